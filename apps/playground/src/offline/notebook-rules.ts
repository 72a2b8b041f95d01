import { calculation, expressionsIn } from './arithmetic-rule.ts';
import type { Turn } from './conversation.ts';
import { factOf, notesIn, resultsIn, sentence, textIn, type Note } from './facts.ts';
import { errandsIn, type Errand, type Goal, type Reading, type Result, type Rule } from './goal.ts';
import { slugOf } from './slug.ts';
import { clock } from './tool-rules.ts';
import { withoutEnd } from './without-end.ts';

// Writing

const polite = '(?:(?:can|could|would|will) you )?(?:please )?(?:also )?(?:just )?';
const verbs = [
  'remember',
  'memori[sz]e',
  'keep in mind',
  "don['’]t forget",
  'remind me',
  'note(?: down)?',
  '(?:make|take|write|save|store|keep|jot down) (?:me )?(?:a |the )?(?:quick )?note(?: of)?',
  '(?:write|jot|put) down',
];
const order = new RegExp(`^${polite}(?:${verbs.join('|')})\\b(?<rest>.*)$`, 'is');
const nouns = 'result|answer|value|number|sum|product|outcome|time|date|receipt';
const pronoun = `(?:it|that|this|them|those|these|both|all (?:of )?(?:it|that|this|them)|the (?:${nouns})s?)`;
/** "write it down", "save the result": orders only with a pronoun; "save 5 euros" does not match. */
const pronounOrder = new RegExp(
  `^${polite}(?:write|jot|put|save|store|keep)\\s+(?<rest>${pronoun}\\b.*)$`,
  'is',
);
const place = '(?:in|to|into) (?:the |a |my |your )?note(?:book|s)?';
const tail = `(?:\\s+(?:down|for me|for later|please|too|as well|${place}))*`;
const onlyPronoun = new RegExp(
  `^(?<pronoun>${pronoun})?${tail}(?:\\s+(?:as|under)\\s+["“]?(?<name>[\\w-]+)["”]?)?${tail}[.!?]*$`,
  'i',
);
const named = /^(?:called|named|titled) ["“]?(?<name>[\w-]+)["”]?(?: ?[:,] ?| )(?<text>.+)$/is;
const aTime = /^(?:what (?:time|day|date)\b|the (?:current )?(?:time|date)(?: (?:in|now|today)\b|[.!]*$))/i;
const aQuestion = /^(?:what|who|when|where|which|why|how|if|whether)\b/i;

/** Orders to remember something: the text itself, or the result or statement just before. */
export const remember: Rule = {
  name: 'remember',
  tool: 'notebook_write',
  ability: 'write notes (“remember that I like tea”, “remember it”)',
  read(reading) {
    const rest = (order.exec(reading.clause) ?? pronounOrder.exec(reading.clause))?.groups?.['rest'];
    if (rest === undefined) return [];
    const content = rest.trim().replace(/^:\s*/, '');
    const goals = findingsFor(content, reading);
    if (goals.length > 0) return [...goals, noteOfResults({ ...reading, goals }, undefined)];
    const reference = onlyPronoun.exec(content);
    if (reference !== null) return [noteOfResults(reading, reference.groups?.['name'])];
    return aQuestion.test(content) ? [] : [noteOfText(content, reading.clause)];
  },
};

/** A question to answer first: "what 2 + 2 is", "the result of 2 + 2", "the time in Tokyo". */
function findingsFor(content: string, reading: Reading): readonly Goal[] {
  if (/^(?:what|the (?:result|answer|value|sum|product))\b/i.test(content)) {
    const expressions = expressionsIn(content);
    if (expressions.length > 0) return expressions.map(calculation);
  }
  const isKnown = errandsIn(reading.goals).some((goal) => goal.tool === 'clock');
  return aTime.test(content) && !isKnown ? clock.read({ ...reading, clause: content }) : [];
}

function noteOfText(content: string, clause: string): Errand {
  const { name, text = content } = named.exec(content)?.groups ?? {};
  const plain = withoutEnd(text.replace(/^(?:that|to|down|of|the following)\b:?\s+/i, ''), '.! ');
  const noted = /^["“](.+)["”]$/s.exec(plain)?.[1] ?? plain;
  return writing({
    because: `the order “${clause}”`,
    prepare: () => ({ name: slugOf(name ?? noted), text: noted }),
  });
}

function noteOfResults({ clause, goals, past, unread }: Reading, name: string | undefined): Errand {
  const sources = errandsIn(goals).filter((goal) => goal.tool !== 'notebook_write');
  const covers = sources.length > 0 ? [] : unread;
  return writing({
    because: `the order “${clause}”, which points back`,
    after: sources.map((goal) => goal.tool),
    covers,
    prepare(earlier) {
      const results = earlier.filter((result) => result.tool !== 'notebook_write');
      const text =
        sources.length > 0 ? results.map(factOf).join('; ') : covers.join(' ') || lastStatement(past);
      return text === '' ? undefined : { name: slugOf(name ?? text), text };
    },
    otherwise: `For “${clause}” I have no result to write down.`,
  });
}

function writing(errand: Pick<Errand, 'because' | 'prepare'> & Partial<Errand>): Errand {
  return { kind: 'errand', tool: 'notebook_write', after: [], otherwise: '', say: sayNoted, ...errand };
}

function sayNoted({ input, value }: Result): string {
  const name = textIn(value, 'name') ?? textIn(input, 'name');
  return `I noted “${textIn(input, 'text')}” under the name “${name}”.`;
}

/** The results of the turn before, else the user's statement in it. */
function lastStatement(past: readonly Turn[]): string {
  const turn = past.at(-1);
  if (turn === undefined) return '';
  const facts = resultsIn(turn).filter((result) => !result.tool.startsWith('notebook_'));
  if (facts.length > 0) return facts.map(factOf).join('; ');
  return turn.calls.length > 0 || turn.question.endsWith('?') ? '' : turn.question;
}

// Reading

const recallPatterns = [
  /\b(?:what|who|when|where|which|how|do|can|did)\b.*\b(?:remember|recall|note(?:[ds]|book)?)\b/i,
  /\bwhat\b.*\b(?:written|wrote|write) down\b/i,
  /^(?:please )?(?:recall|read|show|list|open)\b.*\b(?:notes?|notebook|remember(?:ed)?|everything)\b/i,
  /^(?:please )?recall\b/i,
  /\bwhat (?:was|were)\b.*\b(?:result|answer|value|outcome|sum|product|number)\b/i,
  /^(?:please )?(?:remind me|(?:can|could) you (?:remember|remind me))\b/i,
  /\b(?:what|who|when|where|which)(?:['’]s|s)?\b.*\b(?:my|mine|our)\b/i,
];
const aboutResults = /\b(?:results?|answers?|values?|outcomes?|sums?|products?|numbers?)\b/i;
const oneNote = /\bnote (?:(?:called|named|titled|about) )?["“]?(?<name>[\w-]+)["”]?[.?!]*$/i;
/** Words that say nothing about which note is meant. */
const commonWords = new Set(
  `a about again all am an and answer answers any anything are as ask asked at be been by can could did
  do does down earlier everything for from had has have how i if in is it just know let list me mine
  minus my note notebook noted notes number numbers of on open our out outcome please plus product
  read recall remember remembered result results said say show so still sum tell that the them then
  there these this those times to told up us value values was we were what when where which who whose
  with written wrote you your`.split(/\s+/),
);

/** Questions about notes. */
export const recall: Rule = {
  name: 'recall',
  tool: 'notebook_read',
  ability: 'read my notes (“what do you remember?”, “what was the result?”)',
  read({ clause, past }) {
    if (!recallPatterns.some((pattern) => pattern.test(clause))) return [];
    const name = /^(?:please )?(?:read|show|open)\b/i.test(clause)
      ? oneNote.exec(clause)?.groups?.['name']
      : undefined;
    return [
      {
        kind: 'errand',
        tool: 'notebook_read',
        because: `the question for what was noted in “${clause}”`,
        after: ['notebook_write'],
        prepare: () => (name === undefined ? {} : { name: slugOf(name) }),
        otherwise: '',
        say: ({ value }) => answerFromNotes({ clause, notes: notesIn(value), past }),
      },
    ];
  },
};

interface Recollection {
  readonly clause: string;
  readonly notes: readonly Note[];
  readonly past: readonly Turn[];
}

function answerFromNotes({ clause, notes, past }: Recollection): string {
  if (notes.length === 0) return `The notebook holds no such note.${resultsWorkedOut(clause, past)}`;
  const terms = termsIn(clause);
  const matching =
    terms.length > 0 ? bestMatches(notes, terms) : aboutResults.test(clause) ? notesOfResults(notes) : notes;
  if (matching.length > 0) return `${matching.length === 1 ? 'I noted' : 'My notes say'}:${listed(matching)}`;
  const missing = `No note mentions ${terms.map((term) => `“${term}”`).join(' or ')}.`;
  return `${missing}${resultsWorkedOut(clause, past)} What I have noted:${listed(notes)}`;
}

function resultsWorkedOut(clause: string, past: readonly Turn[]): string {
  if (!aboutResults.test(clause)) return '';
  const facts = past
    .flatMap(resultsIn)
    .filter((result) => result.tool === 'calculator')
    .map(factOf);
  return facts.length === 0 ? '' : ` In this conversation I worked out: ${facts.join('; ')}.`;
}

/** The topic of the question: its expressions, else the words that are not in every question. */
function termsIn(clause: string): readonly string[] {
  const expressions = expressionsIn(clause);
  if (expressions.length > 0) return expressions;
  const words = clause.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.filter((word) => word.length > 1 && !commonWords.has(word)))];
}

function bestMatches(notes: readonly Note[], terms: readonly string[]): readonly Note[] {
  const scores = notes.map((note) => {
    const hay = compact(`${note.name} ${note.text}`);
    return terms.filter((term) => hay.includes(compact(term).replace(/(?<=\p{L}{3})s$/u, ''))).length;
  });
  const best = Math.max(...scores);
  return best === 0 ? [] : notes.filter((_, index) => scores[index] === best);
}

function compact(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, '');
}

function notesOfResults(notes: readonly Note[]): readonly Note[] {
  const results = notes.filter((note) => note.text.includes('='));
  return results.length > 0 ? results : notes;
}

function listed(notes: readonly Note[]): string {
  const [only] = notes;
  if (notes.length === 1 && only !== undefined) return ` ${sentence(only.text)}`;
  return notes.map((note) => `\n- ${note.name}: ${note.text}`).join('');
}
