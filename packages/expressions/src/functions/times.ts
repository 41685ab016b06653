import { dateForms, type LocalForm } from '../local/local-forms.ts'
import { readLocalTime } from '../local/local-times.ts'
import { isTimezone, shownIn } from '../local/timezones.ts'
import { durationMs, formatMs, hasUnknownLetters, isoOf, type ReadTime, readAnyTime, readTime } from '../times.ts'
import { evaluationNow, isEmpty, made, spend, type Value } from '../values.ts'
import type { CallSite, Functions, Run } from './function.ts'

/** Steps of a time in a time zone, which takes this much longer than other functions. */
const zoneSteps = 200

const noZone = 'must name a time zone, such as Europe/Berlin'
const refuseZone = (given: Value) => (isEmpty(given) || isTimezone(String(given)) ? undefined : noZone)
const refuseOrder = (given: Value) =>
  isEmpty(given) || dateForms.some((form) => form === given)
    ? undefined
    : `must name the order as one of ${dateForms.join(', ')}`

/** Runs a function that reads a time zone. JavaScript throws if the zone does not exist. */
function inZone(run: () => Value, { fail }: CallSite): Value {
  try {
    return run()
  } catch (error) {
    if (error instanceof RangeError) return fail(noZone)
    throw error
  }
}

/** A value that is computed from a time. */
const ofTime =
  (run: (read: ReadTime, args: readonly Value[], site: CallSite) => Value): Run =>
  (args, site) => {
    const [time, , zone] = args
    if (isEmpty(time)) return null
    spend(zone ? zoneSteps : 8, site)
    const read = site.values.readsAnyTime ? readAnyTime(time) : readTime(time)
    return read ? run(read, args, site) : site.fail('is not a time in ISO 8601: write time(…)')
  }

const localTime: Run = ([value, order, zone], site) => {
  spend(zone ? 2 * zoneSteps : 8, site)
  const form: LocalForm = { ...(order && { dates: order as 'DMY' }), ...(zone && { timezone: zone as string }) }
  return inZone(() => {
    const { text, wrong } = readLocalTime(site.values.textOf(value, site), form, false)
    return wrong === undefined ? text : site.fail(wrong)
  }, site)
}

/** The functions of times. */
export const timeFunctions: Functions = {
  time: {
    run: localTime,
    runInDefinitions: (args, site) =>
      isEmpty(args[1]) && isEmpty(args[2]) ? ofTime(({ ms }) => isoOf(ms))(args, site) : localTime(args, site),
    refuse: ([, order, zone]) => refuseOrder(order) ?? refuseZone(zone),
  },
  addTime: ofTime(({ ms }, [, duration], { fail }) => {
    const sum = ms + (durationMs(String(duration)) ?? Number.NaN)
    return Math.abs(sum) <= 8.64e15 ? isoOf(sum) : fail('cannot be moved by that: write a duration such as P1DT2H')
  }),
  formatTime: {
    run: ofTime(({ ms, hasZone }, [, given, zone], site) => {
      const form = given as string
      // A definition keeps letters that have no meaning.
      if (hasUnknownLetters(form)) {
        site.fail('has a form with unknown letters: use yyyy, MM, dd, HH, mm, ss, SSS')
      }
      return inZone(() => {
        const text = formatMs(zone && hasZone ? shownIn(ms, zone as string).getTime() : ms, form)
        if (text === '' && form !== '') site.fail('has a year that cannot be written')
        return made(text, site)
      }, site)
    }),
    refuse: ([, , zone]) => refuseZone(zone),
  },
  seconds: ofTime(({ ms }) => Math.floor(ms / 1000)),
  milliseconds: ofTime(({ ms }) => ms),
  now: () => isoOf(Math.floor((evaluationNow().nowMs ?? 0) / 1000) * 1000),
}
