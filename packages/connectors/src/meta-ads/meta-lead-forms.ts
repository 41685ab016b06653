import { streamPreset } from '../event-stream/stream-preset.ts'
import { metaLeadPreset } from './lead-preset.ts'

/** Leads of instant forms, of which Meta sends the IDs. */
export const metaLeadForms = streamPreset(metaLeadPreset)
