import { streamPreset } from '../event-stream/stream-preset.ts'
import { tiktokLeadPreset } from './lead-preset.ts'

/** Leads of instant forms and direct messages that TikTok sends. */
export const tiktokLeadForms = streamPreset(tiktokLeadPreset)
