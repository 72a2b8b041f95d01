import type { ModelRegistry } from '@holdfast/driver-ai-sdk';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { RecordedRequest } from '../server.ts';
import { strictServer, strictServers, type StrictProfile, type StrictServer } from '../strict/index.ts';
import type { JudgedRequest, StrictStep } from '../strict/server.ts';

/** Makes the answer to a request. */
export type Answerer = (profile: StrictProfile, request: RecordedRequest) => StrictStep;

interface Place {
  readonly profile: StrictProfile;
  readonly server: StrictServer;
  readonly model: LanguageModelV4;
}

/** The strict servers of a test, with the models that call them. They are started once, and play one conversation after the other. */
export class Arena {
  readonly profiles: readonly StrictProfile[];
  /** Answers the requests from now on. */
  answerer: Answerer = () => ({ failure: 'overloaded' });
  /** The warnings of the packages. A conversation takes its own. */
  readonly warnings: string[] = [];
  private readonly places = new Map<string, Place>();

  private constructor(profiles: readonly StrictProfile[]) {
    this.profiles = profiles;
  }

  static async start(profiles: readonly StrictProfile[] = strictServers()): Promise<Arena> {
    const arena = new Arena(profiles);
    for (const profile of profiles) {
      const script = (request: RecordedRequest) => arena.answerer(profile, request);
      const server = await strictServer({ profile, script });
      arena.places.set(profile.name, { profile, server, model: profile.model(server.url) });
    }
    return arena;
  }

  /** Finds the model of a server by the name of its profile. */
  get registry(): ModelRegistry {
    return {
      languageModel: (name) => {
        const place = this.places.get(name);
        if (place === undefined) throw new Error(`No strict server has the name ${name}.`);
        return place.model;
      },
    };
  }

  /** The requests since the last call of this method, by server. */
  takeRequests(): ReadonlyMap<string, readonly JudgedRequest[]> {
    const taken = [...this.places].map(([name, { server }]) => [name, server.requests.splice(0)] as const);
    return new Map(taken.filter(([, requests]) => requests.length > 0));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.places.values()].map(({ server }) => server.stop()));
  }
}
