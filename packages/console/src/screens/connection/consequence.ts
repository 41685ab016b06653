import { type ReadMeaning, readMeanings, type SettingPurpose, type WriteMeaning, writeMeanings } from '@penstock/wire'
import { countingFields, type FormField, type FormValues, optionOf } from '../../components/fields/form-field.ts'

/** The consequence of the settings of both sides together. */

/** Settings that end a bad consequence: other rows are read, or rows are written differently. */
export type Cure = 'readAll' | 'readNew' | 'sendChanged' | 'readLog' | 'update'
export type Consequence = {
  /** `fails`: the settings contradict each other. */
  readonly tone: 'works' | 'warns' | 'fails'
  /** In the order in which they are offered. */
  readonly cures: readonly Cure[]
}

const works: Consequence = { tone: 'works', cures: [] }
const onlyNew: Consequence = { tone: 'warns', cures: ['readAll', 'update'] }
const noMirror: Consequence = { tone: 'fails', cures: ['readAll', 'readLog'] }

const consequences: Readonly<Record<ReadMeaning, Readonly<Record<WriteMeaning, Consequence>>>> = {
  all: {
    add: { tone: 'warns', cures: ['update', 'readNew', 'sendChanged'] },
    update: works,
    replace: works,
    mirror: works,
  },
  new: { add: works, update: works, replace: onlyNew, mirror: noMirror },
  changed: { add: { tone: 'warns', cures: ['update'] }, update: works, replace: onlyNew, mirror: noMirror },
  log: { add: works, update: works, replace: onlyNew, mirror: { tone: 'fails', cures: ['update', 'readAll'] } },
}

/** The consequence of a way to read and a way to write. */
export const consequenceOf = (read: ReadMeaning, write: WriteMeaning): Consequence => consequences[read][write]

/** The settings of one side. */
export type SideSettings = { readonly fields: readonly FormField[]; readonly values: FormValues }

/** How both sides read and write; `isKeyed`: rows are found by a key that is set. */
export type Ways = { readonly read: ReadMeaning; readonly write: WriteMeaning; readonly isKeyed: boolean }

/** @returns undefined if the destination has no choice of writing, or the source keeps its own place */
export function waysOf(source: SideSettings, destination: SideSettings): Ways | undefined {
  const written = countingFields(destination.fields, destination.values).filter(({ purpose }) => purpose !== 'sent')
  const write = meaningIn(written, destination.values, writeMeanings)
  const read = meaningIn(countingFields(source.fields, source.values), source.values, readMeanings)
  const reads = read ?? readByItself(source)
  if (!write || !reads) return undefined
  const sent = sentRows(destination)
  const key = keyField(destination)
  return {
    read: reads === 'all' && sent === 'changed' ? 'changed' : reads,
    write: sent === 'mirror' ? 'mirror' : write,
    isKeyed: write === 'update' && (!key || String(destination.values[key.name] ?? '').trim() !== ''),
  }
}

/** A report reads its last days again, and a topic is read on; other sources without a choice are read in full. */
function readByItself({ fields }: SideSettings): ReadMeaning | undefined {
  const has = (purpose: SettingPurpose) => fields.some((field) => field.purpose === purpose)
  if (has('lookBack')) return 'changed'
  return has('start') ? undefined : 'all'
}

/** Which of the rows that were read are sent; undefined: all. */
function sentRows({ fields, values }: SideSettings): 'changed' | 'mirror' | undefined {
  const field = fields.find(({ purpose }) => purpose === 'sent')
  return field && meaningIn([field], values, ['changed', 'mirror'] as const)
}

function meaningIn<M extends ReadMeaning | WriteMeaning>(
  fields: readonly FormField[],
  values: FormValues,
  meanings: readonly M[],
): M | undefined {
  for (const field of fields) {
    const meaning = field.meanings?.[String(values[field.name] || field.default || '')]
    const known = meanings.find((one) => one === meaning)
    if (known) return known
  }
  return undefined
}

/** The setting that holds the columns of the key, if the destination has it with these values. */
export const keyField = ({ fields, values }: SideSettings): FormField | undefined =>
  countingFields(fields, values).find(({ purpose }) => purpose === 'key')

export type SettingChange = { readonly side: 'src' | 'dest'; readonly name: string; readonly value: string }

/** The changes of settings that a cure makes; undefined if the sides do not have it. */
export function changesOfCure(
  cure: Cure,
  source: SideSettings,
  destination: SideSettings,
): SettingChange[] | undefined {
  const of = (
    side: 'src' | 'dest',
    ...meanings: readonly (ReadMeaning | WriteMeaning)[]
  ): SettingChange[] | undefined => {
    for (const field of side === 'src' ? source.fields : destination.fields) {
      for (const meaning of meanings) {
        const value = optionOf(field, meaning)
        if (value !== undefined) return [{ side, name: field.name, value }]
      }
    }
    return undefined
  }
  const sent = destination.fields.find(({ purpose }) => purpose === 'sent')
  const sendAll: SettingChange[] =
    sent && destination.values[sent.name] ? [{ side: 'dest', name: sent.name, value: '' }] : []
  const isMirror = sentRows(destination) === 'mirror'
  switch (cure) {
    case 'update': {
      const update = of('dest', 'update')
      return update && [...update, ...(isMirror ? sendAll : [])]
    }
    case 'readAll': {
      const all = of('src', 'all') ?? []
      return all.length + sendAll.length > 0 ? [...all, ...(isMirror ? [] : sendAll)] : undefined
    }
    case 'readNew':
      return of('src', 'changed', 'new')
    case 'readLog':
      return of('src', 'log')
    case 'sendChanged':
      return of('src', 'changed', 'new') ? undefined : of('dest', 'changed')
  }
}
