import { createAgentLoop } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { instantModel } from './instant-model.ts';
import type { Peer } from './peer.ts';
import { echoTool, runOf, streamOf } from './core.ts';

/** The loop of core, with the driver for models of the AI SDK. */
export const driverAiSdk: Peer = {
  agent(job) {
    const driver = aiSdkDriver({ model: instantModel(job) });
    return runOf(job, createAgentLoop({ driver, tools: [echoTool(job)], budget: { maxSteps: Infinity } }));
  },
  streamer(job, pieces) {
    const driver = aiSdkDriver({ model: instantModel(job, pieces) });
    return streamOf(job, createAgentLoop({ driver }));
  },
};
