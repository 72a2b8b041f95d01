-- Reads or changes the account of an owner, as one effect. Amounts are whole nano-dollars, instants milliseconds since
-- 1970. Every operation first removes expired reservations. A call that was sent twice has the effect of one.
--
-- KEYS  1  account_key       the hash of the account: the windows, the sum of the reservations, and the amount of each
--       2  reservations_key  the sorted set of the reserved calls, by the instant at which the reservation expires
--       3  settled_key       the sorted set of the settled calls, by the instant until which the set keeps them
-- ARGV  1  operation     'reserve', 'settle', 'release' or 'read'
--       2  given_now     the present instant, '' for the clock of the server
--       3  call_id       the id of the call, '' for 'read'
--       4  amount        the amount to reserve or to add, for 'reserve' and 'settle'
--       5  duration      until the reservation expires, or until the id is forgotten, in milliseconds
--       6  hour_limit    for 'reserve': the limit of the hour, '' for no limit
--       7  day_limit
--       8  month_limit
--       9  total_limit
--
-- Returns {seconds, microseconds, result}: the server's time, and one of
--       {'done'}
--       {'refused', window, limit, spent, reserved, since}   of the window that ends last
--       {'account', reserved, since, spent, ...}             the windows from the hour to the total
--       {'unknown'}                                          'read' found no account
--       {'layout', layout}                                   the account has another layout; nothing was changed

local account_key = KEYS[1]
local reservations_key = KEYS[2]
local settled_key = KEYS[3]
local operation = ARGV[1]
local given_now = ARGV[2]
local call_id = ARGV[3]
local amount = tonumber(ARGV[4])
local duration = tonumber(ARGV[5])
local hour_limit = ARGV[6]
local day_limit = ARGV[7]
local month_limit = ARGV[8]
local total_limit = ARGV[9]

local LAYOUT = '1'
local WINDOWS = {'hour', 'day', 'month', 'total'}
local HOUR, DAY = 3600000, 86400000
local MAX_AMOUNT = 9007199254740991

local call = redis.call
local time = call('TIME')
local now = tonumber(given_now) or (tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))

local function reply(...) return {time[1], time[2], {...}} end

-- A number as a text without an exponent.
local function whole(number) return string.format('%.0f', number) end

local layout = call('HGET', account_key, 'layout')
if layout and layout ~= LAYOUT then return reply('layout', layout) end
if not layout and call('EXISTS', account_key) == 1 then return reply('layout', 'none') end

local function amount_field(id) return 'amount:' .. id end

local function free(id)
  local reserved = call('HGET', account_key, amount_field(id))
  call('ZREM', reservations_key, id)
  call('HDEL', account_key, amount_field(id))
  if reserved and reserved ~= '0' then call('HINCRBY', account_key, 'reserved', '-' .. reserved) end
end

for _, id in ipairs(call('ZRANGEBYSCORE', reservations_key, '-inf', whole(now))) do free(id) end

-- The number of days since the beginning of the month of the Gregorian calendar.
local function days_in_month()
  local days = math.floor(now / DAY) + 719468 -- since 1 March of the year 0
  local in_era = days % 146097 -- 400 years
  local leap_days = math.floor(in_era / 1460) - math.floor(in_era / 36524) + math.floor(in_era / 146096)
  local year = math.floor((in_era - leap_days) / 365)
  local in_year = in_era - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * in_year + 2) / 153)
  return in_year - math.floor((153 * month + 2) / 5)
end

local today = now - now % DAY
local beginnings = {now - now % HOUR, today, today - days_in_month() * DAY, now}

-- The windows at the present instant. A window that has ended begins anew, and one that begins later stays.
local windows = {}
for index, window in ipairs(WINDOWS) do
  local since, spent = unpack(call('HMGET', account_key, window .. '_since', window .. '_spent'))
  local is_counted = since and (window == 'total' or tonumber(since) >= beginnings[index])
  windows[index] = {
    since = is_counted and tonumber(since) or beginnings[index],
    spent = is_counted and tonumber(spent) or 0,
  }
end

local function save(added)
  local fields = {'layout', LAYOUT}
  for index, window in ipairs(WINDOWS) do
    local spent = math.min(windows[index].spent + added, MAX_AMOUNT)
    for _, each in ipairs({window .. '_since', whole(windows[index].since), window .. '_spent', whole(spent)}) do
      fields[#fields + 1] = each
    end
  end
  call('HSET', account_key, unpack(fields))
end

local reserved = math.min(tonumber(call('HGET', account_key, 'reserved') or 0), MAX_AMOUNT)

local function is_settled() return (tonumber(call('ZSCORE', settled_key, call_id) or 0)) > now end

if operation == 'read' then
  if not layout then return reply('unknown') end
  local account = {'account', whole(reserved)}
  for index = 1, #WINDOWS do
    account[#account + 1] = whole(windows[index].since)
    account[#account + 1] = whole(windows[index].spent)
  end
  return reply(unpack(account))
end

if operation == 'reserve' then
  if call('ZSCORE', reservations_key, call_id) or is_settled() then return reply('done') end
  local limits = {hour_limit, day_limit, month_limit, total_limit}
  for index = #WINDOWS, 1, -1 do
    local limit, window = tonumber(limits[index]), windows[index]
    if limit and window.spent + reserved + amount > limit then
      return reply('refused', WINDOWS[index], whole(limit), whole(window.spent), whole(reserved), whole(window.since))
    end
  end
  save(0)
  call('HSET', account_key, amount_field(call_id), whole(amount))
  call('HINCRBY', account_key, 'reserved', whole(amount))
  call('ZADD', reservations_key, whole(now + duration), call_id)
elseif operation == 'settle' then
  if is_settled() then return reply('done') end
  save(amount)
  if call('ZSCORE', reservations_key, call_id) then free(call_id) end
  call('ZREMRANGEBYSCORE', settled_key, '-inf', whole(now))
  call('ZADD', settled_key, whole(now + duration), call_id)
  if given_now == '' then call('PEXPIRE', settled_key, whole(duration)) end
elseif call('ZSCORE', reservations_key, call_id) then
  free(call_id)
end
return reply('done')
