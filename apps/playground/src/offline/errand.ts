import type { JSONObject } from '@ai-sdk/provider';
import { factOf, sentence } from './facts.ts';
import type { Errand, Result } from './goal.ts';

type Wish = Pick<Errand, 'tool' | 'because'> & { readonly input: JSONObject };

/** An errand whose input is known from the start, and whose answer is the fact that it established. */
export function errand({ tool, because, input }: Wish): Errand {
  return { kind: 'errand', tool, because, after: [], prepare: () => input, otherwise: '', say: sayFact };
}

function sayFact(result: Result): string {
  return sentence(factOf(result));
}
