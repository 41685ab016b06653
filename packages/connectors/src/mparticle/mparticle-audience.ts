import { streamPreset } from '../event-stream/stream-preset.ts'
import { mparticlePreset } from './preset.ts'

/** Audiences and events that mParticle sends to a partner. */
export const mparticleAudience = streamPreset(mparticlePreset)
