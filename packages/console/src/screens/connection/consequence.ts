import { type ReadMeaning, readMeanings, type WriteMeaning, writeMeanings } from '@penstock/wire'
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
  const write = meaningIn(destination, writeMeanings, 'writeMode')
  const read = meaningIn(source, readMeanings) ?? readByItself(source)
  if (!write || !read) return undefined
  const sent = destination.values.sendRows
  const { fields, values } = destination
  const key = countingFields(fields, values).find(({ name }) => name === 'keyColumns')
  return {
    read: read === 'all' && sent === 'Changed' ? 'changed' : read,
    write: sent === 'Mirror' ? 'mirror' : write,
    isKeyed: write === 'update' && (!key || String(values.keyColumns ?? '').trim() !== ''),
  }
}

/** A report reads its last days again, and a topic is read on; other sources without a choice are read in full. */
function readByItself({ fields }: SideSettings): ReadMeaning | undefined {
  const has = (name: string) => fields.some((field) => field.name === name)
  if (has('lookBackDays')) return 'changed'
  return has('startAt') ? undefined : 'all'
}

function meaningIn<M extends ReadMeaning | WriteMeaning>(
  { fields, values }: SideSettings,
  meanings: readonly M[],
  name?: string,
): M | undefined {
  for (const field of countingFields(fields, values)) {
    const meaning = field.meanings?.[String(values[field.name] || field.default || '')]
    const known = meanings.find((one) => one === meaning)
    if (known && (!name || field.name === name)) return known
  }
  return undefined
}

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
  const sendAll: SettingChange[] = destination.values.sendRows ? [{ side: 'dest', name: 'sendRows', value: '' }] : []
  switch (cure) {
    case 'update': {
      const update = of('dest', 'update')
      return update && [...update, ...(destination.values.sendRows === 'Mirror' ? sendAll : [])]
    }
    case 'readAll': {
      const all = of('src', 'all') ?? []
      const isMirror = destination.values.sendRows === 'Mirror'
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
