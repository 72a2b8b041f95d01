import { describe, expect, it } from 'vitest';
import { Issuer } from '../../src/strict/issuer.ts';
import { rules, rulesFor, strictServers, type Rule, type StrictProfile } from '../../src/strict/index.ts';
import { refusalsOf } from '../../src/strict/refusal.ts';
import type { RecordedRequest } from '../../src/server.ts';
import type { Members, View } from '../../src/strict/view.ts';
import { baseOf, type BaseOptions } from './bases/index.ts';
import type { Breaker } from './breakers/breaker.ts';
import { fileBreakers } from './breakers/files.ts';
import { orderBreakers } from './breakers/order.ts';
import { reasoningBreakers } from './breakers/reasoning.ts';
import { shapeBreakers } from './breakers/shape.ts';
import { valueBreakers } from './breakers/values.ts';

const breakers: Readonly<Record<string, Breaker>> = {
  ...valueBreakers,
  ...shapeBreakers,
  ...orderBreakers,
  ...fileBreakers,
  ...reasoningBreakers,
};

const MODELS = [
  'model-1',
  'claude-sonnet-4-5',
  'claude-opus-4-8',
  'claude-opus-5-5',
  'gemini-3-pro-preview',
  'gemini-3.6-flash',
  'gemini-2.5-flash',
  'anthropic.claude-sonnet-4-5',
  'anthropic.claude-opus-4-8',
  'anthropic.claude-opus-5-5',
  'amazon.nova-pro-v1:0',
  'mistral.mistral-large-2407-v1:0',
  'deepseek-v4-pro',
  'deepseek-r1',
  'deepseek-reasoner',
  'kimi-k2.5',
  'o1-mini',
  'gpt-4.1',
  'llama-3.3-70b-versatile',
  'devstral-small-2:24b',
];

/** The models that a wire may have in these tests; the first that a rule holds for is taken. */
const FAMILIES: Readonly<Record<string, RegExp>> = {
  Messages: /^(?:claude|deepseek-v4)/,
  generateContent: /^gemini/,
  Converse: /^anthropic/,
  'Chat Completions': /^(?!claude|gemini|anthropic|amazon|mistral|deepseek-v4|deepseek-r)/,
};

function modelFor({ wire, dialects }: StrictProfile, { when }: Rule): string {
  if (when?.model === undefined && dialects.includes('deepseek-responses')) return 'deepseek-v4-pro';
  const expected = new RegExp(when?.model ?? FAMILIES[wire.name]?.source ?? '', 'u');
  const model = MODELS.find((each) => expected.test(each) && OF_WIRE[wire.name]?.test(each) !== false);
  if (model === undefined) throw new Error('No model fits.');
  return model;
}

/** Models that a wire never has. */
const OF_WIRE: Readonly<Record<string, RegExp>> = {
  Messages: /^claude|^deepseek-v4/,
  Converse: /^(?:anthropic|amazon|mistral)\./,
};

/** Rules that need a conversation with another end. */
const OPEN = ['leadingReasoning', 'wholeReasoning', 'firstCallSigned'];

function optionsFor(profile: StrictProfile, rule: Rule): BaseOptions {
  const { last, open } = rule.check as { last?: boolean; open?: boolean };
  const isOpen = OPEN.includes(rule.check.name) || open === true;
  return {
    model: modelFor(profile, rule),
    thinking: rule.when?.thinking?.[0] ?? (profile.reasons ? 'on' : 'off'),
    hasTools: rule.when?.tools ?? true,
    end: last ? 'prefill' : isOpen ? 'open' : 'user',
  };
}

function refused(profile: StrictProfile, request: RecordedRequest, options: BaseOptions, issuer: Issuer) {
  const view = viewOf(profile, request, options);
  return refusalsOf(rulesFor(profile.dialects), view, { issuer }, profile.wire.paths);
}

function viewOf({ wire }: StrictProfile, request: RecordedRequest, { thinking }: BaseOptions): View {
  return wire.read(request, thinking !== 'off');
}

function profileOf(dialect: string): StrictProfile {
  const profile = strictServers().find(({ dialects }) => dialects.includes(dialect));
  if (!profile) throw new Error(`No profile has the dialect ${dialect}.`);
  return profile;
}

const rows = rules.flatMap((rule) => rule.for.map((dialect) => ({ id: rule.id, dialect, rule })));

describe('each rule', () => {
  it.each(rows)('$id refuses a broken request at $dialect, and no whole one', ({ dialect, rule }) => {
    const profile = profileOf(dialect);
    const options = optionsFor(profile, rule);
    const issuer = new Issuer();
    const whole = baseOf(profile, options, issuer);
    expect(refused(profile, whole, options, issuer)).toEqual([]);

    const view = viewOf(profile, whole, options);
    const breaker = breakers[rule.check.name];
    const body = breaker?.({ rule, profile, view, body: whole.body as Members });
    const refusals = refused(profile, { ...whole, body }, options, issuer);
    expect(refusals.map(({ rule: id }) => id)).toContain(rule.id);
    const refusal = refusals.find(({ rule: id }) => id === rule.id);
    expect(refusal?.message).not.toMatch(/\{\w+\}/);
    expect(refusal?.status).toBe(rule.status);
  });
});
