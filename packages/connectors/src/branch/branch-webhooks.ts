import { streamPreset } from '../event-stream/stream-preset.ts'
import { branchPreset } from './preset.ts'

/** Events that Branch sends by webhook. */
export const branchWebhooks = streamPreset(branchPreset)
