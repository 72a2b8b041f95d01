import { z } from 'zod';

/** A tool of a scenario, from which both sides make their own. */
export interface ScenarioTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: z.ZodType;
  readonly execute: (input: { readonly city: string }) => unknown;
  /** The picture that the model sees besides the text of the result. */
  readonly picture?: Picture;
}

export interface Picture {
  readonly mediaType: string;
  readonly base64: string;
}

/** A picture of one pixel. */
export const PIXEL: Picture = {
  mediaType: 'image/png',
  base64: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
};

const inputSchema = z.object({ city: z.string().describe('The name of the city.') });

const DEGREES: Readonly<Record<string, number>> = { Rome: 21, Oslo: 4 };

export const weather: ScenarioTool = {
  name: 'weather',
  description: 'Returns the weather of a city.',
  inputSchema,
  execute: ({ city }) => ({ city, celsius: DEGREES[city] ?? 0 }),
};

export const brokenSensor: ScenarioTool = {
  name: 'sensor',
  description: 'Reads the sensor of a city.',
  inputSchema,
  execute: ({ city }) => {
    throw new Error(`The sensor of ${city} is broken.`);
  },
};

export const camera: ScenarioTool = {
  name: 'camera',
  description: 'Takes a picture of a city.',
  inputSchema,
  execute: ({ city }) => `A picture of ${city}.`,
  picture: PIXEL,
};
