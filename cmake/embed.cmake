# cmake "-DIN=text;more text" -DOUT=file.c -DNAME=symbol -P embed.cmake
set(hex "")
foreach(file ${IN})
  file(READ ${file} part HEX)
  string(APPEND hex "${part}")
endforeach()
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "((0x..,){24})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "/* Generated from ${NAME}'s text; do not edit. */\n"
  "extern const char ${NAME}[];\n"
  "const char ${NAME}[] __attribute__((visibility(\"hidden\"))) = {\n${bytes}0};\n")
