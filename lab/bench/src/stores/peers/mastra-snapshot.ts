import type { StorePeer, StorePlace } from '../store-peer.ts';
import { messagesOf } from './compare-and-set.ts';
import { mastraRedis } from './mastra.ts';

interface Domains {
  readonly workflows: Workflows;
}

interface Workflows {
  persistWorkflowSnapshot(run: object): Promise<unknown>;
  loadWorkflowSnapshot(run: object): Promise<Snapshot | null>;
}

interface Snapshot {
  readonly context: { readonly agent: { readonly output: object } };
}

const RUN = { workflowName: 'bench', runId: 'run' };

/** `@mastra/redis`: the whole document as the output of the one step of a workflow. */
export async function mastraSnapshot(place: StorePlace): Promise<StorePeer> {
  const store = await mastraRedis<Domains>(place);
  const workflows = await store.getStore('workflows');
  if (!workflows) throw new Error('@mastra/redis keeps no workflows.');
  return {
    prepare: ({ document, index }) => {
      const snapshot = snapshotOf(document, index);
      return () => workflows.persistWorkflowSnapshot({ ...RUN, snapshot });
    },
    messages: async () => {
      const snapshot = await workflows.loadWorkflowSnapshot(RUN);
      return messagesOf(snapshot?.context.agent.output);
    },
    close: () => store.close(),
  };
}

function snapshotOf(document: object, index: number): object {
  const agent = { status: 'success', payload: {}, output: document, startedAt: 0, endedAt: index };
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
