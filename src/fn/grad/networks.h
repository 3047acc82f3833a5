/*
** Cotangents through the functions of networks (rules.h).
*/
#ifndef TT_FN_GRAD_NETWORKS_H
#define TT_FN_GRAD_NETWORKS_H

#include "fn/grad/rules.h"

TT_HIDDEN void tt__rule_convolution(const tt_rule *r);
TT_HIDDEN void tt__rule_attention(const tt_rule *r);
TT_HIDDEN void tt__rule_recurrent(const tt_rule *r);
TT_HIDDEN void tt__rule_mean_square(const tt_rule *r);
TT_HIDDEN void tt__rule_binary_cross_entropy(const tt_rule *r);
TT_HIDDEN void tt__rule_ctc_loss(const tt_rule *r);

#endif
