export { aiSdkTelemetry } from './telemetry/ai-sdk-telemetry.ts';
export type { AiSdkTelemetry, AiSdkTelemetryOptions } from './telemetry/ai-sdk-telemetry.ts';
export type { TelemetryIntegration, TracedWork } from './telemetry/integration.ts';
export type { RecordingOptions } from './telemetry/recorded-event.ts';
