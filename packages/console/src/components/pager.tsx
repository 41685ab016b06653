import { Group, Pagination, Text } from '@mantine/core'
import { useTransition } from 'react'
import { components } from '../strings/components.ts'
import { type ListAddress, useAddress } from './address.ts'
import { useOutdated } from './loaded.tsx'
import { count } from './numbers.ts'

export const pageSize = 25

/** The query of a page of a list. */
export const pageOf = ({ page }: Pick<ListAddress, 'page'>) => ({ size: pageSize, offset: page * pageSize })

/** The same of a list that is searched. */
export const foundOf = (address: ListAddress) => ({ q: address.value('q') || undefined, ...pageOf(address) })

/** Which part of a list is shown, and the way to the others; the page is in the address. */
export function Pager({ total, isMore, size = pageSize }: { total: number; isMore?: boolean; size?: number }) {
  const { page, change } = useAddress()
  const outdated = useOutdated()
  // The click is answered before the rows are drawn, which takes longer than a frame on a slow processor.
  const [isDrawing, draw] = useTransition()
  if (total === 0) return null
  const from = page * size
  return (
    <Group justify="space-between" gap="sm">
      <Text size="sm" c="dimmed">
        {outdated || isDrawing
          ? components.loading
          : components.shown(
              from + 1,
              Math.min(from + size, total),
              isMore ? components.more(count(total)) : count(total),
            )}
      </Text>
      {total > size && (
        <Pagination
          value={page + 1}
          total={Math.ceil(total / size)}
          onChange={(next) => draw(() => change({ page: next === 1 ? '' : String(next) }))}
          size="sm"
          siblings={1}
          getItemProps={(n) => ({ 'aria-label': components.page(n) })}
          getControlProps={(control) => ({
            'aria-label': control === 'previous' ? components.previous : components.next,
          })}
        />
      )}
    </Group>
  )
}
