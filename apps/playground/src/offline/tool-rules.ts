import type { JSONObject } from '@ai-sdk/provider';
import { errand } from './errand.ts';
import { factOf, sentence } from './facts.ts';
import type { Goal, Rule } from './goal.ts';
import { findTimeZones } from './places.ts';
import { withoutEnd } from './without-end.ts';

// The clock

const clockPatterns = [
  /\b(?:what|which|tell|know|current|is it|show)\b.*\b(?:time|date|day|weekday|clock)\b/i,
  /\btime is it\b|\bthe (?:time|date)\b|\btoday['’]s date\b|^(?:time|date)\b/i,
];
const notTheClock = /\b(?:first|last|next|every|this|that|any|some) time\b|\btimes\b|\bmy\b/i;
const unknownPlace = /\b(?:in|at|for) (?!the\b|my\b)(\p{Lu}[\p{L}-]+(?: \p{Lu}[\p{L}-]+)*)/u;

/** Questions for the time or the date, here or in some places. */
export const clock: Rule = {
  name: 'clock',
  tool: 'clock',
  ability: 'tell the time and the date (“what time is it in Tokyo?”)',
  read({ clause }) {
    const isForClock = clockPatterns.some((pattern) => pattern.test(clause)) && !notTheClock.test(clause);
    if (!isForClock) return [];
    const timeZones = findTimeZones(clause);
    const because = `the question for the time in “${clause}”`;
    const place = unknownPlace.exec(clause)?.[1];
    if (timeZones.length === 0 && place !== undefined) {
      const text = `I do not know the time zone of ${place}; name it like “Europe/Vienna”.`;
      return [{ kind: 'remark', because, text }];
    }
    const inputs = timeZones.length === 0 ? [{}] : timeZones.map((timeZone) => ({ timeZone }));
    return inputs.map((input) => ({
      ...errand({ tool: 'clock', because, input }),
      say: (result) => `It is ${sentence(factOf(result))}`,
    }));
  },
};

// Parcels

const polite = '(?:(?:can|could|would|will) you )?(?:please )?(?:also )?';
const sending = new RegExp(`^${polite}(?:send|mail|ship|post|deliver) (.+)$`, 'is');
const nextParcel = / and (?=(?:an?|the|some|my|\d+) .+ to )/i;

/** Orders to send an item to a person. */
export const parcel: Rule = {
  name: 'parcel',
  tool: 'send_parcel',
  ability: 'send a parcel (“send a book to Ann”)',
  read({ clause }) {
    const order = sending.exec(clause)?.[1];
    if (order === undefined) return [];
    const parts = withoutEnd(order, '.!?').split(nextParcel);
    return parts.map((part) => parcelGoal(part.replace(/,? please$/i, ''), clause));
  },
};

function parcelGoal(order: string, clause: string): Goal {
  const because = `the order “${clause}”`;
  const [, what = '', to = ''] = /^(.+?) to (.+)$/is.exec(order) ?? [];
  const [, first = '', second = ''] =
    /^(\p{Lu}\p{L}*)\s+((?:an?|the|some|my|her|his|two|three|four|five|six|\d+)\s.+)$/u.exec(order) ?? [];
  const [, recipient = to, content = what] = /^(?:parcel|package)$/i.test(bare(what)) ? splitWith(to) : [];
  const input = second === '' ? { to: recipient, item: bare(content) } : { to: first, item: bare(second) };
  if (input.to !== '' && input.item !== '') return errand({ tool: 'send_parcel', because, input });
  return { kind: 'remark', because, text: `To send “${order}” I must know to whom: say “send … to …”.` };
}

/** "Ann with some books" in two. */
function splitWith(recipient: string): readonly (string | undefined)[] {
  return /^(.+?) (?:with|containing) (.+)$/is.exec(recipient) ?? [];
}

function bare(item: string): string {
  return item
    .replace(/^(?:an?|the|some)\s+/i, '')
    .replace(/^(?:parcel|package) (?:with|of|containing) (?:an?\s|the\s|some\s)?/i, '');
}

// Payments

const paying = new RegExp(`^${polite}pay (.+)$`, 'is');
const euros = String.raw`(?:€ ?)?(\d+(?:\.\d+)?) ?(?:€|euros?)?`;
const amountFirst = new RegExp(`^${euros} to (.+)$`, 'is');
const payeeFirst = new RegExp(`^(.+) ${euros}$`, 'is');

/** Orders to pay a person. */
export const payment: Rule = {
  name: 'payment',
  tool: 'pay',
  ability: 'pay a person (“pay Ann 250 euros”); large amounts wait for your approval',
  read({ clause }) {
    const ordered = paying.exec(clause)?.[1];
    if (ordered === undefined) return [];
    const order = withoutEnd(ordered, '.!?');
    const because = `the order “${clause}”`;
    const [, first, payee] = amountFirst.exec(order) ?? [];
    const [, name, second] = payeeFirst.exec(order) ?? [];
    const [to, amount] = [payee ?? name, first ?? second];
    if (to !== undefined && amount !== undefined)
      return [errand({ tool: 'pay', because, input: { to, amount: Number(amount) } })];
    return [
      { kind: 'remark', because, text: 'To pay I must know whom and how much: say “pay Ann 250 euros”.' },
    ];
  },
};

// Any tool by name

const toolName = '(?:the )?(?:tool )?[`“"]?([\\w-]+)[`”"]?(?: tool)?';
const callPattern = new RegExp(
  `^(?:please )?(?:call|use|run) ${toolName}(?: with)?\\s*(\\{.*\\})?[.!]?$`,
  'is',
);

/** An order to call a tool by its name, with its input as JSON: works with every tool on offer. */
export const callByName: Rule = {
  name: 'call by name',
  read({ clause, tools }) {
    const [, name = '', json = '{}'] = callPattern.exec(clause) ?? [];
    const tool = tools.find((offered) => offered.toLowerCase() === name.toLowerCase());
    if (tool === undefined) return [];
    const because = `the order to call “${tool}”`;
    const input = parseObject(json);
    if (input === undefined)
      return [{ kind: 'remark', because, text: `The input for ${tool} is not a JSON object: ${json}` }];
    return [errand({ tool, because, input })];
  },
};

function parseObject(json: string): JSONObject | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JSONObject)
      : undefined;
  } catch {
    return undefined;
  }
}
