import { asConnectorError, ConnectorError } from '@penstock/connector'
import type { AudienceDirectory } from '../platform-api/audiences/named-audiences.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { objectIn } from '../platform-api/json.ts'
import { idIn, itemsOf } from './pinterest-api.ts'

/** Records as Pinterest takes them: one text with commas between them. */
const recordsOf = (digests: Iterable<string>): string => [...digests].join(',')

/** The customer lists of an ad account, and the audiences that are made from them. */
export class CustomerLists {
  readonly #pinterest: PlatformClient
  readonly #account: string
  readonly #lists = new Map<string, string>()
  readonly #withAudience = new Set<string>()

  constructor(pinterest: PlatformClient, account: string) {
    this.#pinterest = pinterest
    this.#account = account
  }

  /**
   * The lists by their names. Pinterest makes no list without records.
   * @param recordsOfNew the records and the type with which a list is made; called for each list that is
   */
  directory(
    recordsOfNew: () => { digests: readonly string[]; type: string; sent(bytes: number): void },
  ): AudienceDirectory {
    const path = `${this.#account}/customer_lists`
    return {
      find: async (name) => {
        const ids: string[] = []
        for await (const { id, name: called } of itemsOf(this.#pinterest, path)) {
          const found = idIn(id)
          if (found !== undefined && called === name) ids.push(found)
        }
        // The oldest has the lowest number; numbers are too large to compare as such.
        return ids.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))[0]
      },
      make: async (name) => {
        const { digests, type, sent } = recordsOfNew()
        const body = { name, list_type: type, records: recordsOf(digests) }
        const { json, bytesSent } = await this.#pinterest.askObject({ method: 'POST', path, body })
        const id = idIn(json.id)
        if (id === undefined) {
          throw new ConnectorError('malformed_response', 'Pinterest did not return the ID of the new customer list.')
        }
        sent(bytesSent)
        return id
      },
      exists: async (id) => {
        try {
          await this.#pinterest.askObject({ path: `${path}/${id}` })
          return true
        } catch (error) {
          if (asConnectorError(error)?.code === 'object_not_found') return false
          throw error
        }
      },
    }
  }

  /** Adds records to a list or removes them from it. Resolves with how many bytes were sent. */
  async change(list: string, verb: 'add' | 'remove', digests: readonly string[]): Promise<number> {
    const { bytesSent } = await this.#pinterest.askObject({
      method: 'PATCH',
      path: `${this.#account}/customer_lists/${list}`,
      body: { operation_type: verb === 'add' ? 'ADD' : 'REMOVE', records: recordsOf(digests) },
    })
    return bytesSent
  }

  /** The list that an audience is made from. */
  async listOf(audience: string): Promise<string> {
    const known = this.#lists.get(audience)
    if (known !== undefined) return known
    const { json } = await this.#pinterest.askObject({ path: `${this.#account}/audiences/${audience}` })
    const list = idIn(objectIn(json.rule).customer_list_id)
    if (list === undefined) {
      throw new ConnectorError(
        'object_not_found',
        'The audience of the connection or a row is not based on a customer list; use one that is.',
      )
    }
    this.#lists.set(audience, list)
    return list
  }

  /** Makes an audience from a list, unless there is one. */
  async assertAudience(list: string, name: string): Promise<void> {
    if (this.#withAudience.has(list)) return
    const path = `${this.#account}/audiences`
    let found = false
    for await (const { rule } of itemsOf(this.#pinterest, path)) {
      found ||= idIn(objectIn(rule).customer_list_id) === list
      if (found) break
    }
    if (!found) {
      const body = { name, audience_type: 'CUSTOMER_LIST', rule: { customer_list_id: list } }
      await this.#pinterest.askObject({ method: 'POST', path, body })
    }
    this.#withAudience.add(list)
  }
}
