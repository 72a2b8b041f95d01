import type { ProxiedReply } from './request-proxy.ts';
import type { TestDatabase } from './test-database.ts';

/** Makes all later reads of an index return its present entries. */
export function freezeIndexes({ proxy }: TestDatabase): void {
  const answers = new Map<string, ProxiedReply>();
  proxy.fault = async ({ operation, body }, forward) => {
    if (operation !== 'Query' || body['IndexName'] === undefined) return forward();
    const question = JSON.stringify(body);
    const answer = answers.get(question) ?? (await forward());
    answers.set(question, answer);
    return answer;
  };
}
