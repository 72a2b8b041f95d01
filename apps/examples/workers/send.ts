// Sends a message as a web process does, and prints the response: node send.ts
import { setTimeout as pause } from 'node:timers/promises';
import { SessionRuntime } from '@holdfast/core';
import { BullmqEngine } from '@holdfast/runner-bullmq';
import { RedisSessionStore } from '@holdfast/store-redis';

const url = process.env['HOLDFAST_STORE'] ?? 'redis://localhost:6379';
const store = await RedisSessionStore.open({ url });
const engine = new BullmqEngine({ connection: { url } });
const runtime = new SessionRuntime({ store, agents: {} }); // the workers have the agents

const { sessionId } = await runtime.create({ definition: { name: 'assistant' } });
await runtime.enqueue(sessionId, { type: 'message', content: 'What time is it?' });
await engine.wake(sessionId);
while ((await runtime.info(sessionId)).executionStatus !== 'completed') await pause(50);
console.log((await runtime.get(sessionId)).state.finalResponse);
await engine.close();
await store.close();
