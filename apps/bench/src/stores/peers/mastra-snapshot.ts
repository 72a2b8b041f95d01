import type { WorkflowsRedis } from '@mastra/redis';
import { RedisStore } from '@mastra/redis';
import type { StorePeer, StorePlace } from '../store-peer.ts';
import { messagesOf } from './compare-and-set.ts';

const RUN = { workflowName: 'bench', runId: 'run' };

/** `@mastra/redis`: the whole document as the output of the one step of a workflow. */
export async function mastraSnapshot({ url }: StorePlace): Promise<StorePeer> {
  const store = new RedisStore({ id: 'bench', connectionString: url });
  await store.init();
  const workflows = await store.getStore('workflows');
  if (!workflows) throw new Error('@mastra/redis keeps no workflows.');
  return {
    prepare: ({ document, index }) => {
      const snapshot = snapshotOf(document, index);
      return () => workflows.persistWorkflowSnapshot({ ...RUN, snapshot });
    },
    messages: async () => {
      const snapshot = await workflows.loadWorkflowSnapshot(RUN);
      const agent = snapshot?.context['agent'] as { readonly output: unknown } | undefined;
      return messagesOf(agent?.output);
    },
    close: () => store.close(),
  };
}

type WorkflowRunState = Parameters<WorkflowsRedis['persistWorkflowSnapshot']>[0]['snapshot'];

function snapshotOf(document: object, index: number): WorkflowRunState {
  const agent = { status: 'success', payload: {}, output: document, startedAt: 0, endedAt: index } as const;
  return {
    runId: RUN.runId,
    status: 'running',
    value: {},
    context: { agent },
    serializedStepGraph: [],
    activePaths: [],
    activeStepsPath: {},
    suspendedPaths: {},
    resumeLabels: {},
    waitingPaths: {},
    timestamp: index,
  };
}
