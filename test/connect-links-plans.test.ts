import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { limits } from '@penstock/wire'
import * as queries from '../packages/server/src/connect-links/queries.ts'
import { createTestDatabase } from './harness/database.ts'
import { assertPlansOf, type Case, type Judge } from './harness/plans.ts'
import { withSession } from './harness/session.ts'

/** Links are found and listed by an index, and removed in bounded pieces, however many there are. */

const size = 50
/** Links of the tested sub-account can all be used. Others have as many links, which are too old. */
const links = limits.connectLinksMax
const pieceMax = 500
/** Links of two sub-accounts with few links, older than the links of the first one. */
const few = 20

test(`with ${links} links of one sub-account, and as many that have expired`, async (t) => {
  const { url, drop } = await createTestDatabase()
  t.after(drop)
  await withSession(url, async (client) => {
    await client.query(`
      insert into environments (name, id, host) values ('test', 'test', 'test') on conflict do nothing;
      insert into organizations (id, name, owner_id, owner_email) values ('o', 'O', 'u', 'u@example.com'), ('p', 'P', 'u', 'u@example.com');
      insert into accounts (id, organization_id, name, enabled, env)
        select 'a' || n, case when n < 20 then 'o' else 'p' end, 'A', true, 'test' from generate_series(0, 200) n;
      insert into clients (id, organization_id, secret_digest) select 'c' || n, 'o', '' from generate_series(0, 50) n;
      insert into connect_links (id, organization_id, account_id, digest, page_digest, connector_ids, configuration_ids, client_id, created_time,
          expires_time, opened_time)
        select 'l' || n, 'o', 'a0', sha256(n::text::bytea), case when n % 2 = 0 then sha256(('page' || n)::bytea) end, '{x}', '{""}',
          'c' || n % 50, now() - make_interval(secs => n), now() + interval '1 hour', case when n % 2 = 0 then now() end
        from generate_series(1, ${links}) n;
      insert into connect_links (id, organization_id, account_id, digest, connector_ids, configuration_ids, client_id, created_time, expires_time)
        select 'e' || n, case when n % 20 = 0 then 'o' else 'p' end, 'a' || case when n % 20 = 0 then 1 else 20 + n % 180 end,
          sha256(('e' || n)::bytea), '{x}', '{""}', 'c0', now() - interval '90 days', now() - make_interval(days => 60, secs => n)
        from generate_series(1, ${links}) n;
      insert into connect_links (id, organization_id, account_id, digest, connector_ids, configuration_ids, client_id, created_time, expires_time)
        select 'f' || n, 'o', 'a' || 7 + n % 2, sha256(('f' || n)::bytea), '{x}', '{""}', 'c0', now() - interval '1 day', now() + interval '1 hour'
        from generate_series(1, ${few}) n;
      analyze connect_links, accounts, clients, organizations`)
    const digest = (text: string) => `\\x${hash('sha256', text)}`
    const all = { organizationId: 'o', accountId: null, accountIds: null }
    const page = { size, offset: 0 }
    const pages: Case[] = [
      { title: 'of a sub-account', statement: queries.listLinks, parameters: { ...all, accountId: 'a0', ...page } },
      { title: 'of the organization', statement: queries.listLinks, parameters: { ...all, ...page } },
      {
        title: 'within limits',
        statement: queries.listLinks,
        parameters: { ...all, accountIds: ['a0', 'a1'], ...page },
      },
      { title: 'of one with few', statement: queries.listLinks, parameters: { ...all, accountId: 'a7', ...page } },
      { title: 'within few', statement: queries.listLinks, parameters: { ...all, accountIds: ['a7', 'a8'], ...page } },
      { title: 'how many there are of few', statement: queries.countLinks, parameters: { ...all, accountId: 'a7' } },
    ]
    await assertPlansOf(client, pages, (plan) => {
      const read = plan.rowsReadFrom('connect_links')
      return (
        (read > 2 * size && `${read} links read for a page of ${size}`) ||
        (plan.rowsSorted > size && `${plan.rowsSorted} rows sorted for a page of ${size}`) ||
        (plan.scannedWhole.includes('connect_links') && 'the whole table is read')
      )
    })
    const one = { organizationId: 'o', accountIds: null, id: 'l7' }
    const found: Case[] = [
      { title: 'one', statement: queries.findLink, parameters: one },
      { title: 'one, locked', statement: queries.lockLink, parameters: one },
      { title: 'by its token', statement: queries.findUnopened, parameters: { digest: digest('7') } },
      { title: 'by the token of its page', statement: queries.findOpen, parameters: { digest: digest('page8') } },
      { title: 'by that, locked', statement: queries.lockOpen, parameters: { digest: digest('page8') } },
      { title: 'that is open', statement: queries.findOpenById, parameters: { id: 'l8' } },
      { title: 'the origins of one', statement: queries.findOrigins, parameters: { id: 'l8' } },
    ]
    const judgeFound: Judge = (plan) =>
      plan.rowsReadFrom('connect_links') !== 1 && `${plan.rowsReadFrom('connect_links')} links read for one`
    await assertPlansOf(client, found, judgeFound)
    // The count for the limit reads an index of usable links.
    const usable = [
      { title: 'usable', statement: queries.countUsable, parameters: { organizationId: 'o', accountId: 'a1' } },
    ]
    await assertPlansOf(client, usable, (plan) => {
      const read = plan.rowsReadFrom('connect_links')
      return read > links + few && `${read} links read to count ${links + few}`
    })
    const purge = { title: 'a piece', statement: queries.deleteOldLinks, parameters: { days: 30, limit: pieceMax } }
    const left = async () => Number((await client.query('select count(*) as n from connect_links')).rows[0].n)
    const before = await left()
    await assertPlansOf(client, [purge], (plan) => {
      const read = plan.rowsReadFrom('connect_links')
      return (
        (read > 3 * pieceMax && `${read} links read to remove ${pieceMax}`) ||
        (plan.scannedWhole.includes('connect_links') && 'the whole table is read')
      )
    })
    // Once for each way in which PostgreSQL can run it.
    assert.equal(await left(), before - 2 * pieceMax)
  })
})
