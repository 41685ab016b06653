import { streamPreset } from '../event-stream/stream-preset.ts'
import { linkedinLeadPreset } from './lead-preset.ts'

/** Leads of lead forms, of which LinkedIn sends the IDs. */
export const linkedinLeadForms = streamPreset(linkedinLeadPreset)
