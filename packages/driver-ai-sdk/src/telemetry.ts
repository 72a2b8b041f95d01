export { aiSdkTelemetry } from './telemetry/ai-sdk-telemetry.ts';
export type { AiSdkTelemetry, AiSdkTelemetryOptions } from './telemetry/ai-sdk-telemetry.ts';
export type { TelemetryEvent, TelemetryIntegration } from './telemetry/integration.ts';
