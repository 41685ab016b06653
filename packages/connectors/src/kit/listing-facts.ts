import type { ConnectorContext } from '@penstock/connector'
import type { DiscoveredKind } from '@penstock/wire/rules'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall, PlatformClient } from '../platform-api/client.ts'
import type { Page } from '../platform-api/polling.ts'
import type { Auth, RestApi } from './api.ts'

/** How the platform lists values of a setting: ad accounts, pixels, conversion rules. Its discovery follows from it. */
export type Listing = {
  readonly kind: DiscoveredKind
  /** The form of a value, if the setting is not an `idSetting`. Other values of a list are skipped. */
  readonly id?: RegExp
  /** The API of the list, if it differs from the connector's API. */
  readonly platformApi?: RestApi
  /** How its requests are authenticated, if it differs from the connector's requests. */
  readonly auth?: Auth
  /** The form of a cursor. A cursor can come from anyone: without a form, use it only as the value of a parameter. */
  readonly cursor?: RegExp
} & (
  | {
      /** A page. @param cursor what `next` made of the page before. It throws `invalid_setting` if another setting is needed. */
      readonly page: (cursor: string | undefined, context: ConnectorContext) => PlatformCall
      readonly found: (answer: Answer) => readonly Listed[]
      /** The value of the answer that contains the next cursor, like `next` of a report. Without it, there is one page. */
      readonly next?: (answer: Answer, cursor: string | undefined) => unknown
    }
  | {
      /** Reads a page in code, if one request is not enough. It must load its code when it is called. */
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
  /** The kind of the entries, if it differs from the kind of the list. */
  readonly kind?: DiscoveredKind
}

/** Facts with lists of what their settings can name. */
export type Lister = {
  readonly platformApi: RestApi | ((context: Pick<ConnectorContext, 'secrets' | 'settings'>) => RestApi)
  readonly auth: Auth
  /** By the key of the setting. */
  readonly listed?: Readonly<Record<string, Listing>> | undefined
}
