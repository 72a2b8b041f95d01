const imperatives = [
  'remember|memori[sz]e|note|write|jot|save|store|keep|remind',
  'send|mail|ship|post|deliver|pay',
  'calculate|compute|work out|multiply|divide|subtract|double',
  'call|use|run|tell|show|list|read|recall|repeat|summari[sz]e',
].join('|');
const questions = "what(?:'s|’s|s)?|how|when|who|where|which|do you|did|can you|could you";
/** As nouns ("a book, note and pen") these words start nothing. */
const notANoun = String.raw`(?!\s*(?:,|$|(?:and|or)\b))`;
const politeness = '(?:please |just |also |now |then )*';
const start = `(?=${politeness}(?:(?:${imperatives})${notANoun}|(?:${questions}))\\b)`;
const link = String.raw`(?:(?:and|then|also|but)\s+)`;
const abbreviation = String.raw`\b(?:Dr|Mr|Mrs|Ms|St|No|vs|e\.g|i\.e)`;

const boundary = new RegExp(
  [
    String.raw`(?<!${abbreviation})(?<sentence>[.!?;])\s+`,
    String.raw`\n+`,
    String.raw`,\s*${link}*${start}`,
    String.raw`\s${link}+${start}`,
  ].join('|'),
  'gi',
);
const question = new RegExp(String.raw`^\W*(?:and |then |also )*(?:${questions})\b`, 'i');
const boundInfinitive = /^(?:please )?(?:remember|remind me|don['’]t forget|note)\s+to\b/i;
const filler = /^(?:(?:ok(?:ay)?|well|so|now|and|then|also|but|please|oh|just|hey)\b[\s,]*)+(?=\S)/i;

/**
 * The parts of a message that each ask for one thing: sentences, and what "and", "then" or a comma joins when
 * an order or a question follows. Text in double quotes stays whole, and so does an order that depends on
 * another ("remember to buy milk and send a letter").
 */
export function splitClauses(message: string): readonly string[] {
  const clauses: string[] = [];
  let from = 0;
  for (const match of message.matchAll(boundary)) {
    const sentenceEnd = match.groups?.['sentence'] ?? '';
    const clause = message.slice(from, match.index) + sentenceEnd;
    const next = match.index + match[0].length;
    const isSoft = sentenceEnd === '' && !match[0].includes('\n');
    if (isInsideQuotes(message, match.index)) continue;
    if (isSoft && boundInfinitive.test(tidy(clause)) && !question.test(message.slice(next))) continue;
    clauses.push(clause);
    from = next;
  }
  return [...clauses, message.slice(from)].map(tidy).filter((clause) => /[\p{L}\p{N}]/u.test(clause));
}

function isInsideQuotes(message: string, index: number): boolean {
  return (message.slice(0, index).match(/["“”]/g)?.length ?? 0) % 2 === 1;
}

/** Without the white space around it and the words that only lead in. */
function tidy(clause: string): string {
  return clause.trim().replaceAll(/\s+/g, ' ').replace(filler, '');
}
