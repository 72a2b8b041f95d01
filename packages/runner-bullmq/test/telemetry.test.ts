import type { AdvanceResult } from '@holdfast/core/engine';
import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import { BullMQOtel } from 'bullmq-otel';
import { RedisServer, until } from 'test-servers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openEngine } from './support/bullmq-harness.ts';

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
let server: RedisServer;
beforeAll(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  server = await RedisServer.start();
});
afterAll(async () => {
  await server.stop();
  await provider.shutdown();
});

const spansOf = (kind: SpanKind): readonly ReadableSpan[] =>
  exporter.getFinishedSpans().filter((span) => span.kind === kind);

test('the work on a session is a span in the trace of its wake-up, also at a later instant', async () => {
  const { engine, close } = openEngine(
    { url: server.url() },
    { telemetry: new BullMQOtel({ tracerName: 'agents' }) },
  );
  onTestFinished(close);
  const tracer = trace.getTracer('test');
  const seen: string[] = [];
  const served = await engine.serve(async (sessionId): Promise<AdvanceResult> => {
    const isFirst = seen.push(sessionId) === 1;
    tracer.startActiveSpan('step', (span) => span.end());
    return isFirst
      ? { outcome: { type: 'yield' }, wake: ['parent'] }
      : { outcome: { type: 'finished' }, wake: [] };
  });
  onTestFinished(() => served.stop());

  await tracer.startActiveSpan('request', async (span) => {
    await engine.wake('child');
    await until('the session had two turns, and woke another', () => seen.length === 3);
    await engine.wake('child', { at: Date.now() + 1_000 });
    span.end();
  });
  const handled = (): readonly ReadableSpan[] => spansOf(SpanKind.CONSUMER);
  await until('all turns and the timer are traced', () => handled().length === 5);
  expect(seen.toSorted()).toEqual(['child', 'child', 'child', 'parent']);

  const spans = exporter.getFinishedSpans();
  const request = spans.find(({ name }) => name === 'request');
  const traced = spans.filter(({ name }) => name === 'step' || /process|add/.test(name));
  const traces = new Set(traced.map((span) => span.spanContext().traceId));
  expect(traces).toEqual(new Set([request?.spanContext().traceId]));
  const turns = handled().map((span) => span.spanContext().spanId);
  const steps = spans.filter(({ name }) => name === 'step');
  for (const step of steps) expect(turns).toContain(step.parentSpanContext?.spanId);
  expect(spans.filter(({ name }) => name.includes('getNextJob'))).toEqual([]);
});
