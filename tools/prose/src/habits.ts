/** A construction or a word that stops readers, and what to write in its place. */
export interface Habit {
  readonly pattern: RegExp;
  readonly advice: string;
}

const NAME_THE_ACTOR = 'name the actor: the worker, the caller, the person, the store';
const MISSING = 'unknown, missing, absent; without';

/** The constructions that a sentence must not have. The glossary has the words. */
export const habits: readonly Habit[] = [
  { pattern: /^(?:Who|Others|One (?:of|that|which|who|whose)) (?!.*\?$)/, advice: NAME_THE_ACTOR },
  {
    pattern: /^What (?!to do:)(?=.*[.;]$)/,
    advice: 'begin with a noun: the response, the saved state, the removed items',
  },
  { pattern: /\b(?:that|which|where|as|when|if) there (?:is|are|was|were) not\b/i, advice: MISSING },
  { pattern: /^There (?:is|are) not\b/, advice: MISSING },
  { pattern: /\b(?:is|are|was|were) none\b(?! of)/i, advice: MISSING },
  { pattern: /\b(?:that|which) cannot be(?=[.,;:)]|$)/i, advice: 'invalid, impossible' },
  {
    pattern: /\bthere (?:is|are) no(?:thing)? (?:[\w-]+ ){0,2}(?:that|which|who)\b/i,
    advice: 'no … does it',
  },
  { pattern: /\b(?:is|are|was|were) not one\b/i, advice: 'the noun again' },
  { pattern: /\bsuch as (?:it is|they are)\b/i, advice: 'the property, or nothing' },
  { pattern: /\b(?:is|are) to be\b/i, advice: 'must be, or the verb in the active voice' },
  { pattern: /\b(?:may|can|to) be had\b/i, advice: 'is available' },
  { pattern: /\b(?:be it|were it not|as if there were)\b/i, advice: 'a clause with if or when' },
];
