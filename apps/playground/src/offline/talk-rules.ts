import type { Turn } from './conversation.ts';
import { describeCall, shortened } from './facts.ts';
import type { Goal, Rule } from './goal.ts';

function remark(because: string, text: string): readonly Goal[] {
  return [{ kind: 'remark', because, text }];
}

/** Negative orders: no part of them counts as an order. */
export const refrain: Rule = {
  name: 'refrain',
  read({ clause }) {
    const isNegative = /^(?:please )?(?:don['’]t|do not|never)\b(?! forget)/i.test(clause);
    return isNegative
      ? remark(`the negative order “${clause}”`, `I take “${clause}” as an order to do nothing.`)
      : [];
  },
};

const first = /\b(?:first|begin(?:ning)?|start)\b/i;
const summary =
  /\bsummar(?:y|i[sz]e)\b|\b(?:what|how)\b.*\b(?:we|us)\b.*\b(?:talk|discuss|sa(?:y|id)|far)\w*|\brecap\b/i;
const counting = /\bhow many\b.*\b(?:messages?|questions?|turns?|times)\b/i;
const ownPatterns = [
  /\bwhat\b.*\bi (?:just |have )?(?:say|said|asked?|write|wrote|tell|told)\b/i,
  /\bmy (?:\w+ )?(?:message|question)\b|^repeat\b/i,
];

/** Questions about the conversation itself, answered from the prompt. */
export const conversation: Rule = {
  name: 'conversation',
  ability: 'talk about this conversation (“what did I say first?”, “summarise”)',
  read({ clause, past }) {
    const because = `the question about this conversation in “${clause}”`;
    if (summary.test(clause)) return remark(because, summarise(past));
    if (counting.test(clause))
      return remark(because, `Before this message you wrote ${amount(past.length)}.`);
    if (!ownPatterns.some((pattern) => pattern.test(clause))) return [];
    const [word, turn] = first.test(clause) ? ['first', past[0]] : ['last', past.at(-1)];
    if (turn === undefined) return remark(because, 'This is your first message; I see nothing before it.');
    return remark(because, `Your ${word} message was: “${turn.question}”`);
  },
};

function amount(count: number): string {
  return count === 1 ? '1 message' : `${count} messages`;
}

function summarise(past: readonly Turn[]): string {
  if (past.length === 0) return 'There is nothing to summarise yet: this is your first message.';
  const lines = past.map((turn, index) => {
    const answer = turn.answer === '' ? 'no answer' : `“${shortened(oneLine(turn.answer))}”`;
    return `\n${index + 1}. You: “${shortened(oneLine(turn.question))}” Answer: ${answer}`;
  });
  return `So far you wrote ${amount(past.length)}:${lines.join('')}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

const deedsPatterns = [
  /\b(?:did|have|had) you\b.*\b(?:do|done|call(?:ed)?|used?|tools?)\b/i,
  /\b(?:did|have|had) you\b.*\b(?:sen[dt]|mail(?:ed)?|ship(?:ped)?|deliver(?:ed)?)\b/i,
  /\bwhat (?:was|were) sent\b/i,
  /\bwhere (?:is|are)\b.*\b(?:parcel|package)s?\b/i,
];
const aboutParcels = /\b(?:sen[dt]|mail(?:ed)?|ship(?:ped)?|deliver(?:ed)?|parcels?|packages?)\b/i;

/** Questions for what was done, answered from the tool calls in the prompt; it does nothing again. */
export const deeds: Rule = {
  name: 'deeds',
  ability: 'say what I did (“which tools did you call?”)',
  read({ clause, past }) {
    if (!deedsPatterns.some((pattern) => pattern.test(clause))) return [];
    const calls = past
      .flatMap((turn) => turn.calls)
      .filter((call) => !aboutParcels.test(clause) || call.tool === 'send_parcel');
    const list = calls.map((call) => `\n- ${shortened(oneLine(describeCall(call)))}`).join('');
    const text =
      calls.length === 0 ? 'I see no such tool call in this conversation.' : `I see these tool calls:${list}`;
    return remark(`the question for past deeds in “${clause}”`, text);
  },
};

const identityPatterns = [
  /\b(?:who|what) are you\b/i,
  /\bare you (?:an?|the|real|human|offline|online|there)\b/i,
  /\b(?:what|which) (?:model|can you do|tools)\b/i,
  /\bwhat(?:'s|’s| is) your name\b|\bhow do you work\b|^help\b/i,
];
const greetingPattern =
  /^(?:hi|hello|hey|howdy|good (?:morning|afternoon|evening|day)|greetings|servus|moin)\b/i;
const thanksPattern = /\b(?:thanks|thank you|cheers)\b/i;

/** The introduction: it always says that it is the offline model. */
export const introduction =
  'I am the offline model of this playground: rules in this process, no network and no language model.';

/** Questions for who it is and what it can do. */
export const identity: Rule = {
  name: 'identity',
  read({ clause, abilities }) {
    if (!identityPatterns.some((pattern) => pattern.test(clause))) return [];
    return remark(`the question “${clause}”`, `${introduction} ${abilities}`);
  },
};

/** Greetings; alone in a message they are answered with what it can do. */
export const greeting: Rule = {
  name: 'greeting',
  read({ clause, abilities, isAlone }) {
    const word = greetingPattern.exec(clause)?.[0];
    if (word === undefined) return [];
    const hello = `${word.charAt(0).toUpperCase()}${word.slice(1).toLowerCase()}!`;
    const isBare = isAlone && clause.length <= word.length + 12;
    const text = isBare ? `${introduction} ${abilities}` : 'This is the offline model.';
    return remark(`the greeting “${word}”`, `${hello} ${text}`);
  },
};

/** Thanks. */
export const thanks: Rule = {
  name: 'thanks',
  read({ clause }) {
    const word = thanksPattern.exec(clause)?.[0];
    return word === undefined ? [] : remark(`the word “${word}”`, 'You are welcome.');
  },
};
