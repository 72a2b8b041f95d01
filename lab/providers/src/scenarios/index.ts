import { z } from 'zod';
import type { Answer, AnswerPart } from '../wire.ts';
import type { Scenario, Turn } from './scenario.ts';
import { brokenSensor, camera, PIXEL, weather } from './tools.ts';

const usage = { input: 20, output: 10 };

function answer(id: string, finish: Answer['finish'], ...parts: readonly AnswerPart[]): Answer {
  return { id, finish, parts, usage };
}

function calling(id: string, ...parts: readonly AnswerPart[]): Answer {
  return answer(id, 'tool-calls', ...parts);
}

function done(id: string, content: string): Answer {
  return answer(id, 'stop', text(content));
}

function text(content: string): AnswerPart {
  return { type: 'text', text: content };
}

/** A thought, with a signature of its number. */
function thought(number: number, content: string): AnswerPart {
  const signature = Buffer.from(`signature-${number}`).toString('base64');
  return { type: 'reasoning', text: content, signature };
}

function call(name: string, city: 'Rome' | 'Oslo') {
  return { type: 'call', id: `call${city.toLowerCase()}1`, name, input: { city } } as const;
}

function turn(content: string, ...answers: readonly Answer[]): Turn {
  return { text: content, answers };
}

const ROME = call('weather', 'Rome');
const OSLO = call('weather', 'Oslo');
const SUN = { title: 'The sun', url: 'https://sun.example/' };

/** Text, reasoning and a call in one answer, then the end. The broken streams use it too. */
export const callAndText: Scenario = {
  name: 'text, reasoning and a call',
  needs: [],
  tools: [weather],
  turns: [
    turn(
      'How warm is Rome?',
      calling('a1', thought(1, 'I need the weather.'), text('Let me look.'), ROME),
      done('a2', 'It is 21 degrees.'),
    ),
  ],
};

/** The rows of the matrix. */
export const scenarios: readonly Scenario[] = [
  { name: 'text', needs: [], tools: [], turns: [turn('Hello', done('a1', 'Hello to you.'))] },
  {
    name: 'truncated by the length limit',
    needs: [],
    tools: [],
    turns: [turn('Count', answer('a1', 'length', text('One, two')))],
  },
  callAndText,
  {
    name: 'reasoning across steps',
    needs: ['reasoning'],
    tools: [weather],
    turns: [
      turn(
        'Is Rome warmer than Oslo?',
        calling('a1', thought(1, 'First Rome.'), ROME),
        calling('a2', thought(2, 'Then Oslo.'), OSLO),
        answer('a3', 'stop', thought(3, 'Now I know.'), text('Yes, by 17 degrees.')),
      ),
    ],
  },
  {
    name: 'parallel calls',
    needs: ['parallel-calls'],
    tools: [weather],
    turns: [
      turn(
        'How warm are Rome and Oslo?',
        calling('a1', ROME, OSLO),
        done('a2', 'They have 21 and 4 degrees.'),
      ),
    ],
  },
  {
    name: 'call of a program',
    needs: ['program-calls'],
    tools: [weather],
    turns: [
      turn(
        'How warm is Rome?',
        calling('a1', { ...ROME, caller: 'program_1' }),
        done('a2', 'It is 21 degrees.'),
      ),
    ],
  },
  {
    name: 'failing tool',
    needs: [],
    tools: [brokenSensor],
    turns: [
      turn(
        'Read the sensor of Rome.',
        calling('a1', call('sensor', 'Rome')),
        done('a2', 'The sensor is broken.'),
      ),
    ],
  },
  {
    name: 'picture as a result',
    needs: ['picture-results'],
    tools: [camera],
    turns: [turn('Show me Rome.', calling('a1', call('camera', 'Rome')), done('a2', 'I see one pixel.'))],
  },
  {
    name: 'call that the provider runs',
    needs: ['provider-calls'],
    tools: [weather],
    turns: [
      turn(
        'What is the sun? And how warm is Rome?',
        calling(
          'a1',
          { type: 'provider-call', id: 'search1', query: 'the sun', result: SUN },
          text('The sun is a star.'),
          ROME,
        ),
        done('a2', 'Rome has 21 degrees.'),
      ),
      turn('Thank you.', done('a3', 'With pleasure.')),
    ],
  },
  {
    name: 'files in',
    needs: ['files-in'],
    tools: [],
    turns: [
      { ...turn('What is this?', done('a1', 'One pixel.')), pictures: [PIXEL] },
      turn('And its colour?', done('a2', 'Blue.')),
    ],
  },
  {
    name: 'files out',
    needs: ['files-out'],
    tools: [],
    turns: [
      turn('Draw a pixel.', answer('a1', 'stop', text('Here it is.'), { type: 'file', ...PIXEL })),
      turn('Is it blue?', done('a2', 'Yes.')),
    ],
  },
  {
    name: 'sources',
    needs: ['sources'],
    tools: [],
    turns: [
      turn('What is the sun?', answer('a1', 'stop', text('A star.'), { type: 'source', ...SUN })),
      turn('Thank you.', done('a2', 'With pleasure.')),
    ],
  },
  {
    name: 'usage details',
    needs: ['cache-usage'],
    tools: [],
    turns: [
      turn('Hello', {
        ...done('a1', 'Hello to you.'),
        usage: { input: 2_000, output: 300, cacheRead: 1_500, cacheWrite: 400, reasoning: 250 },
      }),
    ],
  },
  {
    name: 'structured output',
    needs: ['structured-output'],
    tools: [],
    output: z.object({ city: z.string(), place: z.object({ celsius: z.number() }) }),
    turns: [turn('How warm is Rome?', done('a1', '{"city":"Rome","place":{"celsius":21}}'))],
  },
  {
    name: 'two turns',
    needs: [],
    tools: [weather],
    turns: [
      turn('How warm is Rome?', calling('a1', ROME), done('a2', 'It is 21 degrees.')),
      turn('And Oslo?', calling('a3', OSLO), done('a4', 'It is 4 degrees.')),
    ],
  },
];
