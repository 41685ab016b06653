import type { Usage } from '@penstock/wire'
import { useRead } from '../../api/queries.ts'
import { count, percent, shortCount } from '../../components/numbers.ts'
import { Time } from '../../components/time.tsx'
import { accounts as say } from '../../strings/accounts.ts'
import { Figures } from '../overview/figures.tsx'

/** The figures of the organization with their limits. If they cannot be read, the list says why. */
export function Totals() {
  const { data } = useRead('getUsage', {})
  const usage = data?.reply
  const open = usage?.openIncidents
  return (
    <Figures
      figures={[
        {
          label: say.title,
          value: usage && count(usage.accounts.used),
          note: usage && notes(usage.accounts.failing > 0 && say.need(usage.accounts.failing), limitOf(usage.accounts)),
          to: '/accounts?show=failing',
        },
        {
          label: say.connections,
          value: usage && count(totalOf(usage)),
          note:
            usage &&
            notes(
              usage.connections.failing > 0 && say.failing(count(usage.connections.failing)),
              say.active(count(usage.connections.active)),
            ),
          to: '/connections',
        },
        {
          label: say.rows,
          value: usage && shortCount(usage.rowsThisMonth.used),
          exactly: usage && count(usage.rowsThisMonth.used),
          note: usage && limitOf(usage.rowsThisMonth),
          to: '/reports',
        },
        ...(open === null
          ? []
          : [
              {
                label: say.openIncidents,
                value: open && count(open.count),
                note: open?.since ? (
                  <>
                    {say.oldest} <Time seconds={open.since} />
                  </>
                ) : undefined,
                to: '/alerts',
              },
            ]),
      ]}
    />
  )
}

const notes = (...all: readonly (string | false | undefined)[]) => all.filter(Boolean).join(' · ')
const totalOf = ({ connections }: Usage) => Object.values(connections).reduce((sum, n) => sum + n, 0)
/** The share of a limit; undefined if there is none. */
const limitOf = ({ used, max }: { used: number; max: number | null }) =>
  max === null ? undefined : say.ofLimit(percent(used / max), shortCount(max))
