import { select } from '../../../src/strict/checks/check.ts';
import { firstPart, insertAt, removeAt, selectorOf, setAt, type Breaker, type Whole } from './breaker.ts';

const FOREIGN = Buffer.from('the signature of another endpoint').toString('base64');

function withForeign(whole: Whole): ReturnType<Breaker> {
  const [type = '', member = ''] = selectorOf(whole).split('.');
  const [place] = select(whole.view, `${type}.${member}`);
  if (!place) throw new Error(`The ${type} has no signature.`);
  return setAt(whole.body, place.path, FOREIGN);
}

export const reasoningBreakers: Readonly<Record<string, Breaker>> = {
  signed: withForeign,
  bound: ({ body }) => setAt(body, ['system', 0, 'text'], 'Be kind.'),
  wholeReasoning: (whole) => removeAt(whole.body, firstPart(whole, 'redacted').path),
  leadingReasoning: (whole) => {
    const body = removeAt(whole.body, firstPart(whole, 'redacted').path);
    return removeAt(body, firstPart(whole, 'reasoning').path);
  },
  firstCallSigned: (whole) => removeAt(whole.body, [...firstPart(whole, 'call').path, 'thoughtSignature']),
  reasoningFollowed: (whole) => {
    const { path } = firstPart(whole, 'call');
    return insertAt(whole.body, path, { role: 'user', content: [{ type: 'input_text', text: 'a' }] });
  },
  itemReasoned: (whole) => removeAt(whole.body, firstPart(whole, 'reasoning').path),
  referencesKnown: (whole) => insertAt(whole.body, ['input', 1], { type: 'item_reference', id: 'msg_none' }),
};
