import { z } from 'zod';
import type { Answer, AnswerPart } from '../wire.ts';
import type { Scenario } from './scenario.ts';
import { brokenSensor, camera, PIXEL, weather } from './tools.ts';

const usage = { input: 20, output: 10 };

function answer(id: string, finish: Answer['finish'], ...parts: readonly AnswerPart[]): Answer {
  return { id, finish, parts, usage };
}

function text(content: string): AnswerPart {
  return { type: 'text', text: content };
}

function call(id: string, name: string, city: string): AnswerPart {
  return { type: 'call', id, name, input: { city } };
}

function done(id: string, content: string): Answer {
  return answer(id, 'stop', text(content));
}

const SUN = { title: 'The sun', url: 'https://sun.example/' };

/** Text, reasoning and a call in one answer, then the end. The broken streams use it too. */
export const callAndText: Scenario = {
  name: 'text, reasoning and a call',
  needs: [],
  tools: [weather],
  turns: [
    {
      text: 'How warm is Rome?',
      answers: [
        answer(
          'a1',
          'tool-calls',
          { type: 'reasoning', text: 'I need the weather.', signature: 'c2lnbmF0dXJlLTE=' },
          text('Let me look.'),
          call('callrome1', 'weather', 'Rome'),
        ),
        done('a2', 'It is 21 degrees.'),
      ],
    },
  ],
};

/** The rows of the matrix. */
export const scenarios: readonly Scenario[] = [
  { name: 'text', needs: [], tools: [], turns: [{ text: 'Hello', answers: [done('a1', 'Hello to you.')] }] },
  {
    name: 'truncated by the length limit',
    needs: [],
    tools: [],
    turns: [{ text: 'Count', answers: [answer('a1', 'length', text('One, two'))] }],
  },
  callAndText,
  {
    name: 'reasoning across steps',
    needs: ['reasoning'],
    tools: [weather],
    turns: [
      {
        text: 'Is Rome warmer than Oslo?',
        answers: [
          answer(
            'a1',
            'tool-calls',
            { type: 'reasoning', text: 'First Rome.', signature: 'c2lnbmF0dXJlLTE=' },
            call('callrome1', 'weather', 'Rome'),
          ),
          answer(
            'a2',
            'tool-calls',
            { type: 'reasoning', text: 'Then Oslo.', signature: 'c2lnbmF0dXJlLTI=' },
            call('calloslo1', 'weather', 'Oslo'),
          ),
          answer(
            'a3',
            'stop',
            { type: 'reasoning', text: 'Now I know.', signature: 'c2lnbmF0dXJlLTM=' },
            text('Yes, by 17 degrees.'),
          ),
        ],
      },
    ],
  },
  {
    name: 'parallel calls',
    needs: ['parallel-calls'],
    tools: [weather],
    turns: [
      {
        text: 'How warm are Rome and Oslo?',
        answers: [
          answer(
            'a1',
            'tool-calls',
            call('callrome1', 'weather', 'Rome'),
            call('calloslo1', 'weather', 'Oslo'),
          ),
          done('a2', 'They have 21 and 4 degrees.'),
        ],
      },
    ],
  },
  {
    name: 'call of a program',
    needs: ['program-calls'],
    tools: [weather],
    turns: [
      {
        text: 'How warm is Rome?',
        answers: [
          answer('a1', 'tool-calls', {
            type: 'call',
            id: 'callrome1',
            name: 'weather',
            input: { city: 'Rome' },
            caller: 'program_1',
          }),
          done('a2', 'It is 21 degrees.'),
        ],
      },
    ],
  },
  {
    name: 'failing tool',
    needs: [],
    tools: [brokenSensor],
    turns: [
      {
        text: 'Read the sensor of Rome.',
        answers: [
          answer('a1', 'tool-calls', call('callrome1', 'sensor', 'Rome')),
          done('a2', 'The sensor is broken.'),
        ],
      },
    ],
  },
  {
    name: 'picture as a result',
    needs: ['picture-results'],
    tools: [camera],
    turns: [
      {
        text: 'Show me Rome.',
        answers: [
          answer('a1', 'tool-calls', call('callrome1', 'camera', 'Rome')),
          done('a2', 'I see one pixel.'),
        ],
      },
    ],
  },
  {
    name: 'call that the provider runs',
    needs: ['provider-calls'],
    tools: [weather],
    turns: [
      {
        text: 'What is the sun? And how warm is Rome?',
        answers: [
          answer(
            'a1',
            'tool-calls',
            { type: 'provider-call', id: 'search1', query: 'the sun', result: SUN },
            text('The sun is a star.'),
            call('callrome1', 'weather', 'Rome'),
          ),
          done('a2', 'Rome has 21 degrees.'),
        ],
      },
      { text: 'Thank you.', answers: [done('a3', 'With pleasure.')] },
    ],
  },
  {
    name: 'files in',
    needs: ['files-in'],
    tools: [],
    turns: [
      { text: 'What is this?', pictures: [PIXEL], answers: [done('a1', 'One pixel.')] },
      { text: 'And its colour?', answers: [done('a2', 'Blue.')] },
    ],
  },
  {
    name: 'files out',
    needs: ['files-out'],
    tools: [],
    turns: [
      {
        text: 'Draw a pixel.',
        answers: [answer('a1', 'stop', text('Here it is.'), { type: 'file', ...PIXEL })],
      },
      { text: 'Is it blue?', answers: [done('a2', 'Yes.')] },
    ],
  },
  {
    name: 'sources',
    needs: ['sources'],
    tools: [],
    turns: [
      {
        text: 'What is the sun?',
        answers: [answer('a1', 'stop', text('A star.'), { type: 'source', ...SUN })],
      },
      { text: 'Thank you.', answers: [done('a2', 'With pleasure.')] },
    ],
  },
  {
    name: 'usage details',
    needs: ['cache-usage'],
    tools: [],
    turns: [
      {
        text: 'Hello',
        answers: [
          {
            ...done('a1', 'Hello to you.'),
            usage: { input: 2_000, output: 300, cacheRead: 1_500, cacheWrite: 400, reasoning: 250 },
          },
        ],
      },
    ],
  },
  {
    name: 'structured output',
    needs: ['structured-output'],
    tools: [],
    output: z.object({ city: z.string(), place: z.object({ celsius: z.number() }) }),
    turns: [{ text: 'How warm is Rome?', answers: [done('a1', '{"city":"Rome","place":{"celsius":21}}')] }],
  },
  {
    name: 'two turns',
    needs: [],
    tools: [weather],
    turns: [
      {
        text: 'How warm is Rome?',
        answers: [
          answer('a1', 'tool-calls', call('callrome1', 'weather', 'Rome')),
          done('a2', 'It is 21 degrees.'),
        ],
      },
      {
        text: 'And Oslo?',
        answers: [
          answer('a3', 'tool-calls', call('calloslo1', 'weather', 'Oslo')),
          done('a4', 'It is 4 degrees.'),
        ],
      },
    ],
  },
];
