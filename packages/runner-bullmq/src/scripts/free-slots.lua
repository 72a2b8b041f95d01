-- Returns the wake-ups that have a slot of a group now. The keys and the arguments are those of group-slots.lua.

return next_wake_ups()
