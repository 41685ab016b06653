import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'

type Env = Readonly<Record<string, string | undefined>>

/** The sampler of OTEL_TRACES_SAMPLER. By default, every trace, or the caller's decision. */
export function createSampler(env: Env): Sampler {
  const name = env.OTEL_TRACES_SAMPLER?.trim() || 'parentbased_always_on'
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG?.trim() || 1)
  const root = (plain: string): Sampler => {
    if (plain === 'always_off') return new AlwaysOffSampler()
    if (plain === 'traceidratio') return new TraceIdRatioBasedSampler(ratio >= 0 && ratio <= 1 ? ratio : 1)
    return new AlwaysOnSampler()
  }
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root: root(name.slice(12)) }) : root(name)
}

/** A positive whole number of the environment, as an option. Empty if the value is not such a number. */
export function whole<K extends string>(env: Env, name: string, key: K): { [One in K]?: number } {
  const value = Number(env[name]?.trim() || Number.NaN)
  return (Number.isSafeInteger(value) && value > 0 ? { [key]: value } : {}) as { [One in K]?: number }
}
