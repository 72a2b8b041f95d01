import { describe, expect, it } from 'vitest';
import { assumedRules, rules, strictServers } from '../../src/strict/index.ts';
import { finder } from '../../src/strict/rules.ts';
import { checks } from '../../src/strict/checks/index.ts';

describe('the rules', () => {
  it('have ids of their own', () => {
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  });

  it.each(rules.map((rule) => ({ id: rule.id, rule })))('$id is enforced by a check', ({ rule }) => {
    expect(finder(rule)).toBeTypeOf('function');
  });

  it('belong to profiles with names of their own', () => {
    const names = strictServers().map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('have a source, or are assumed', () => {
    const bare = rules.filter(({ sources, assumed }) => sources.length === 0 && !assumed);
    expect(bare).toEqual([]);
    expect(rules.filter(({ certainty }) => certainty === 'assumed')).toEqual(assumedRules());
  });

  it('have two sources at least when several reports stand behind them', () => {
    const few = rules.filter(
      ({ certainty, sources }) => certainty === 'several reports' && sources.length < 2,
    );
    expect(few.map(({ id }) => id)).toEqual([]);
  });

  it('name dialects that a profile has', () => {
    const known = new Set(strictServers().flatMap(({ dialects }) => dialects));
    expect(rules.flatMap((rule) => rule.for).filter((dialect) => !known.has(dialect))).toEqual([]);
  });

  it('use each check', () => {
    const used = new Set(rules.map(({ check }) => check.name));
    expect(Object.keys(checks).filter((name) => !used.has(name as never))).toEqual([]);
  });
});
