import { arithmetic } from './arithmetic-rule.ts';
import { splitClauses } from './clauses.ts';
import type { Turn } from './conversation.ts';
import { errandsIn, type Goal, type Reading, type Rule } from './goal.ts';
import { recall, remember } from './notebook-rules.ts';
import { conversation, deeds, greeting, identity, introduction, refrain, thanks } from './talk-rules.ts';
import { callByName, clock, parcel, payment } from './tool-rules.ts';

/** The first of these rules that matches gets the whole clause. */
const owners: readonly Rule[] = [refrain, callByName, remember, parcel, payment, deeds, recall, conversation];
/** All of these rules that match share the clause. */
const sharers: readonly Rule[] = [greeting, thanks, identity, clock, arithmetic];

/** A goal and the rule that read it. */
export interface RuledGoal {
  readonly rule: string;
  readonly goal: Goal;
}

/** Replaces the rule of a clause without a match. */
export const noRule = 'none';

/** Asks for the message before once more. */
const again =
  /^(?:please )?(?:try |do (?:it|that) |once more|and )*(?:again|retry|once more)[.!?]*(?: please[.!]*)?$/i;

/** The goals of the message to answer, in its order. "Again" stands for the message before it. */
export function readGoals(turns: readonly Turn[], tools: readonly string[]): readonly RuledGoal[] {
  const asked = turns.findLastIndex((turn) => !again.test(turn.question));
  const question = turns[asked]?.question ?? '';
  const past = turns.slice(0, Math.max(asked, 0));
  const clauses = splitClauses(question);
  const abilities = describeAbilities(tools);
  const isAlone = clauses.length === 1;
  const ruled: RuledGoal[] = [];
  const unread: string[] = [];
  for (const clause of clauses) {
    const goals = ruled.map(({ goal }) => goal);
    const read = readClause({ clause, past, tools, abilities, goals, unread: [...unread], isAlone });
    if (read.length === 0) unread.push(clause);
    ruled.push(...(read.length === 0 ? [unreadGoal(clause)] : read));
  }
  const isUnderstood = unread.length < clauses.length;
  return isUnderstood ? withoutCovered(withoutRepeats(ruled)) : [helpless(question, abilities)];
}

function readClause(reading: Reading): readonly RuledGoal[] {
  for (const rule of owners) {
    const goals = readBy(rule, reading);
    if (goals.length > 0) return goals;
  }
  return sharers.flatMap((rule) => readBy(rule, reading));
}

function readBy(rule: Rule, reading: Reading): readonly RuledGoal[] {
  return rule.read(reading).map((goal) => ({ rule: rule.name, goal }));
}

function unreadGoal(clause: string): RuledGoal {
  const text = `I have no rule for “${clause}”.`;
  return { rule: noRule, goal: { kind: 'remark', because: `“${clause}”`, text } };
}

/** Without the remarks on clauses that an errand takes care of. */
function withoutCovered(ruled: readonly RuledGoal[]): readonly RuledGoal[] {
  const covered = errandsIn(ruled.map(({ goal }) => goal)).flatMap((errand) => errand.covers ?? []);
  return ruled.filter(
    ({ rule, goal }) => rule !== noRule || !covered.some((clause) => goal.because === `“${clause}”`),
  );
}

function helpless(question: string, abilities: string): RuledGoal {
  const text =
    question === ''
      ? `${introduction} I read text only, and found none in your message. ${abilities}`
      : `${introduction} None of my rules matches “${question}”. ${abilities}`;
  return { rule: noRule, goal: { kind: 'remark', because: `“${question}”`, text } };
}

/** The same errand twice in a message is done once. */
function withoutRepeats(ruled: readonly RuledGoal[]): readonly RuledGoal[] {
  const seen = new Set<string>();
  return ruled.filter(({ goal }) => {
    if (goal.kind === 'remark' || goal.after.length > 0) return true;
    const key = JSON.stringify([goal.tool, goal.prepare([])]);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

function describeAbilities(tools: readonly string[]): string {
  const rules = [...sharers, ...owners];
  const able = rules.filter((rule) => rule.tool === undefined || tools.includes(rule.tool));
  const abilities = able.flatMap((rule) => rule.ability ?? []);
  const known = new Set(rules.map((rule) => rule.tool));
  const others = tools.filter((tool) => !known.has(tool));
  const byName =
    others.length === 0 ? [] : [`call ${others.join(', ')} by name (“call ${others[0]} with {…}”)`];
  const lines = [...abilities, ...byName].map((ability) => `\n- ${ability}`).join('');
  const offer = tools.length === 0 ? 'No tools are offered to me here, so I can only:' : 'Here I can:';
  return `${offer}${lines}`;
}
