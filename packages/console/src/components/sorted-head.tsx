import { Table, type TableThProps, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { components } from '../strings/components.ts'
import { useAddress } from './address.ts'

/** The orders of a column, as the parameter `sort` has them: the first click sorts by the first one. */
export type Orders = { readonly first: string; readonly second: string; readonly isDescendingFirst?: boolean }

/** The heading of a column that sorts the list. The order is in the address; the third click returns to the default. */
export function SortedHead({ orders, children, ...looks }: { orders: Orders; children: ReactNode } & TableThProps) {
  const { value, change } = useAddress()
  const sort = value('sort')
  const at = sort === orders.first ? 'first' : sort === orders.second ? 'second' : undefined
  const isDescending = at !== undefined && (at === 'first') === (orders.isDescendingFirst ?? false)
  const next = at === undefined ? orders.first : at === 'first' ? orders.second : ''
  const Icon = at === undefined ? IconArrowsSort : isDescending ? IconArrowDown : IconArrowUp
  return (
    <Table.Th {...looks} aria-sort={at === undefined ? 'none' : isDescending ? 'descending' : 'ascending'}>
      <UnstyledButton
        fz="inherit"
        fw="inherit"
        title={components.sort}
        onClick={() => change({ sort: next })}
        style={{ display: 'inline-flex', alignItems: 'center', gap: 4 }}
      >
        {children}
        <Icon size={14} aria-hidden opacity={at === undefined ? 0.4 : 1} />
      </UnstyledButton>
    </Table.Th>
  )
}
