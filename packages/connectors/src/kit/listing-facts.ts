import type { ConnectorContext } from '@penstock/connector'
import type { DiscoveredKind } from '@penstock/wire/rules'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall, PlatformClient } from '../platform-api/client.ts'
import type { Page } from '../platform-api/polling.ts'
import type { Auth, RestApi } from './api.ts'

/** How the platform lists values of a setting: ad accounts, pixels, conversion rules. Its discovery follows from it. */
export type Listing = {
  readonly kind: DiscoveredKind
  /** The form of a value, if the setting is no `idSetting`; anything else in a list is left out. */
  readonly id?: RegExp
  /** Its API, if it is not the one of the connector. */
  readonly platformApi?: RestApi
  /** How its requests are signed in, if not as those of the connector. */
  readonly auth?: Auth
  /** The form of a cursor. It can come from anyone: without a form, it may only be the value of a parameter. */
  readonly cursor?: RegExp
} & (
  | {
      /** A page. @param cursor what `next` made of the page before. It throws `invalid_setting` if another setting is needed. */
      readonly page: (cursor: string | undefined, context: ConnectorContext) => PlatformCall
      readonly found: (answer: Answer) => readonly Listed[]
      /** The value of the answer in the place of the next cursor, as `next` of a report; without it, there is one page. */
      readonly next?: (answer: Answer, cursor: string | undefined) => unknown
    }
  | {
      /** Reads a page by hand, if it takes more than one request. Loads what it needs when it is called. */
      readonly read: (
        client: PlatformClient,
        cursor: string | undefined,
        context: ConnectorContext,
      ) => Promise<Page<Listed>>
    }
)

/** An entry of the platform's list: the value of the setting, and the name that people use. */
export type Listed = {
  readonly id: unknown
  readonly name?: unknown
  /** If it is not that of the list. */
  readonly kind?: DiscoveredKind
}

/** Facts with lists of what their settings can name. */
export type Lister = {
  readonly platformApi: RestApi | ((context: Pick<ConnectorContext, 'secrets' | 'settings'>) => RestApi)
  readonly auth: Auth
  /** By the key of the setting. */
  readonly listed?: Readonly<Record<string, Listing>> | undefined
}
