import type { Values } from '@penstock/connector'
import { statement } from '../../db/statement.ts'
import { savedSettings } from '../queries.ts'
import type { Fence } from './queries.ts'

/**
 * The configuration of the connectors of a transfer, which can be corrected while the transfer waits or retries. Secrets are always the
 * present ones. All others are the settings of the start, unless nothing was confirmed (docs/decisions/rejected-records.md).
 */

const present = (side: 'src' | 'dest') =>
  savedSettings('c.account_id', `c.${side}_connector_id`, `c.${side}_configuration_id`)

/**
 * Takes the present settings of the destination if nothing was confirmed, and those of the source if, besides, no batch was announced: the
 * rows of a batch that may have arrived must be the same ones if it is sent again. No row: something was confirmed.
 */
export const takePresentSettings = statement<Fence, { srcSettings: Values; destSettings: Values }>(`
  update transfers t set
    src_settings = case when t.columns is null and p.pending is null then coalesce(${present('src')}, t.src_settings) else t.src_settings end,
    dest_settings = coalesce(${present('dest')}, t.dest_settings)
  from connections c, transfer_parts p
  where t.id = :id and t.attempt = :attempt and t.status = 'running' and t.parts = 1 and c.id = t.connection_id
    and p.transfer_id = t.id and t.read = 0 and not exists (select from ledger l where l.transfer_id = t.id)
  returning t.src_settings, t.dest_settings
`)

/** Whether the configuration of each side is another one than the transfer keeps. */
export const changedSides = statement<{ id: string }, { src: boolean; dest: boolean }>(`
  select coalesce(${present('src')} <> t.src_settings, false) as src, coalesce(${present('dest')} <> t.dest_settings, false) as dest
  from transfers t join connections c on c.id = t.connection_id where t.id = :id
`)
