import { InProcessEngine } from '@holdfast/core';
import { metricsText, type EngineMetrics } from '@holdfast/core/engine';
import { describe, expect, test } from 'vitest';

describe('metricsText', () => {
  const lane = { lane: 'a"b\\c\nd', taken: 2, waits: { count: 2, seconds: 0.25 }, pauses: 1 };
  const metrics: EngineMetrics = {
    ...new InProcessEngine().metrics(),
    waits: { count: 2, seconds: 0.25, buckets: [{ atMostSeconds: 0.1, count: 1 }] },
    lanes: [{ ...lane, lane: undefined }, lane],
  };

  const backlog = [
    { lane: undefined, waiting: 2 },
    { lane: 'x', waiting: 3, since: 1_000 },
  ];

  test('has the backlog of each lane, and how long it has waited', () => {
    const text = metricsText(metrics, { backlog, now: 3_500 });
    expect(text.split('\n').filter((line) => /^holdfast_engine_(waiting|oldest)/.test(line))).toEqual([
      'holdfast_engine_waiting{lane="x"} 3',
      'holdfast_engine_waiting{lane=""} 2',
      'holdfast_engine_oldest_wait_seconds{lane="x"} 2.5',
      'holdfast_engine_oldest_wait_seconds{lane=""} 0',
    ]);
    expect(metricsText(metrics)).not.toContain('waiting');
  });

  test('escapes labels, and names the waits as a histogram', () => {
    const text = metricsText(metrics, { labels: { worker: 'w1' } });
    expect(text).toContain(
      [
        '# HELP holdfast_engine_wait_seconds Time from due to the start of the work.',
        '# TYPE holdfast_engine_wait_seconds histogram',
        'holdfast_engine_wait_seconds_bucket{worker="w1",le="0.1"} 1',
        'holdfast_engine_wait_seconds_bucket{worker="w1",le="+Inf"} 2',
        'holdfast_engine_wait_seconds_sum{worker="w1"} 0.25',
        'holdfast_engine_wait_seconds_count{worker="w1"} 2',
        '# HELP holdfast_engine_lane_taken_total Sessions taken from the queue, by lane.',
        '# TYPE holdfast_engine_lane_taken_total counter',
        'holdfast_engine_lane_taken_total{worker="w1",lane=""} 2',
        'holdfast_engine_lane_taken_total{worker="w1",lane="a\\"b\\\\c\\nd"} 2',
      ].join('\n'),
    );
  });

  test('each line has the form that the format defines, and each name one TYPE before its samples', () => {
    const lines = metricsText(metrics, { backlog }).split('\n');
    expect(lines.pop()).toBe('');
    const sample = /^(holdfast_engine_[a-z_]+)(\{([a-z]+="(\\["\\n]|[^"\\\n])*",?)+\})? [\d.]+$/;
    const comment =
      /^# (HELP holdfast_engine_[a-z_]+ \S.*|TYPE holdfast_engine_[a-z_]+ (counter|gauge|histogram))$/;
    expect(lines.filter((line) => !sample.test(line) && !comment.test(line))).toEqual([]);
    const types = lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2]);
    expect(new Set(types).size).toBe(types.length);
  });

  test.each(['0a', 'a-b', '__name__', '', 'le', 'lane', 'outcome'])('refuses the label "%s"', (name) => {
    expect(() => metricsText(metrics, { labels: { [name]: 'x' } })).toThrow(
      expect.objectContaining({
        code: 'ARGUMENT_INVALID',
        message: expect.stringContaining(`found "${name}"`),
      }),
    );
  });
});
