"""Names of images and samplers: there are none here, and what makes one says so."""

from ._constants import CLASSES
from ._errors import failure


class ImageFormat:
    """The order of an image's channels and their type."""

    __slots__ = ("channel_data_type", "channel_order")

    def __init__(self, channel_order=0, channel_type=0):
        self.channel_order, self.channel_data_type = channel_order, channel_type

    def __eq__(self, other):
        return isinstance(other, ImageFormat) and hash(self) == hash(other)

    def __hash__(self):
        return hash((self.channel_order, self.channel_data_type))

    def __repr__(self):
        order = CLASSES["channel_order"].to_string(self.channel_order, "<unknown channel order 0x%x>")
        kind = CLASSES["channel_type"].to_string(self.channel_data_type, "<unknown channel data type 0x%x>")
        return f"ImageFormat({order}, {kind})"


class DeviceTopologyAmd:
    """Where a device is on the bus."""

    __slots__ = "bus", "device", "function"

    def __init__(self, bus=0, device=0, function=0):
        self.bus, self.device, self.function = bus, device, function


def get_supported_image_formats(context, flags, image_type):
    """None: the device has no images."""
    return []


def _refused(name):
    def refuse(*args, **keywords):
        raise failure("INVALID_OPERATION", name, "images and samplers are not covered")

    refuse.__name__ = name
    return refuse


class _Refusing(type):
    def __call__(cls, *args, **keywords):
        raise failure("INVALID_OPERATION", cls.__name__, "images and samplers are not covered")


class Image(metaclass=_Refusing):
    """Not covered: making one says so."""


class Sampler(metaclass=_Refusing):
    """Not covered: making one says so."""


class ImageDescriptor(metaclass=_Refusing):
    """Not covered: making one says so."""


class Pipe(metaclass=_Refusing):
    """Not covered: making one says so."""


create_image, image_from_array, enqueue_fill_image, enqueue_map_image = map(
    _refused, ("create_image", "image_from_array", "enqueue_fill_image", "enqueue_map_image")
)
