import type { ResultOf } from '@penstock/client'
import { limits } from '@penstock/wire'
import { useRef, useState } from 'react'
import { readNow, useWrite } from '../../api/queries.ts'
import { dataSubjects as say } from '../../strings/data-subjects.ts'

type Reply = ResultOf<'findDataSubject'>['reply']
type Found = Reply['records'][number]
export type Search = {
  readonly values: readonly string[]
  readonly records: readonly Found[]
  readonly events: Reply['events']
  readonly searched: number
  readonly notKept: number
  /** Other places that keep something; null until the first part is there. */
  readonly elsewhere: Reply['elsewhere']
  /** Whether all was searched. */
  readonly isWhole: boolean
}

const { personValuesMax: valuesMax, personValueLengthMin: lengthMin } = limits
/** Why these values cannot be searched; undefined if they can. */
export function wrongIn(values: readonly string[]): string | undefined {
  if (values.length === 0) return say.missing
  if (values.length > valuesMax) return say.tooMany(valuesMax)
  return values.some((value) => value.length < lengthMin) ? say.tooShort(lengthMin) : undefined
}

let handedOver: readonly string[] | undefined
/** Values that another page was given, for the page that searches: in memory, since an address and a history are kept. */
export const handOver = (values: readonly string[]): void => {
  handedOver = values
}
/** The values that were handed over, once. */
export const takeHandedOver = (): readonly string[] | undefined => {
  const values = handedOver
  handedOver = undefined
  return values
}

/**
 * Searches for a person, part by part, and erases what there is. The values are kept in memory alone: neither in the address
 * nor in the cache.
 */
export function useSearch(accountId: string | undefined) {
  const [search, setSearch] = useState<Search>()
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const latest = useRef(0)
  const eraseNext = useWrite('eraseDataSubject')

  const find = async (values: readonly string[]) => {
    const run = ++latest.current
    setBusy(true)
    setFailure(undefined)
    let found: Search = { values, records: [], events: [], searched: 0, notKept: 0, elsewhere: null, isWhole: false }
    setSearch(found)
    try {
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const body = { values: [...values], ...(cursor !== undefined && { cursor }) }
        const { reply } = await readNow('findDataSubject', { accountId, body })
        if (run !== latest.current) return
        cursor = reply.next
        found = {
          values,
          records: [...found.records, ...reply.records],
          events: [...found.events, ...reply.events],
          searched: found.searched + reply.searched,
          notKept: found.notKept + reply.notKept,
          elsewhere: reply.elsewhere ?? found.elsewhere,
          isWhole: cursor === null,
        }
        setSearch(found)
      }
    } catch (error) {
      if (run === latest.current) setFailure(error)
    } finally {
      if (run === latest.current) setBusy(false)
    }
  }
  /** Ends the search, and keeps its result so far. */
  const stop = () => {
    latest.current++
    setBusy(false)
  }
  /** Erases everywhere that was or was not searched yet. */
  const erase = async (values: readonly string[]) => {
    stop()
    let erased = 0
    let active = 0
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const body = { values: [...values], ...(cursor !== undefined && { cursor }) }
      const { reply } = await eraseNext.mutateAsync({ accountId, body })
      cursor = reply.next
      erased += reply.erased
      active = reply.activeTransfers
    }
    setSearch(undefined)
    return { erased, active }
  }
  return { search, failure, isBusy, find, stop, erase }
}
