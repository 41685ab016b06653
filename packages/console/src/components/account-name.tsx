import { Anchor, Text } from '@mantine/core'
import { Link } from 'react-router'
import { useRead } from '../api/queries.ts'

/** A sub-account by its name, which leads to `page` of it. */
export function AccountName({ accountId, page = '' }: { accountId: string; page?: string }) {
  const { data } = useRead('getAccount', { id: accountId })
  return (
    <Anchor
      component={Link}
      to={`/accounts/${accountId}${page && `/${page}`}`}
      c="dimmed"
      fz="inherit"
      display="block"
      truncate
      title={data?.reply.name ?? ''}
    >
      {data?.reply.name ?? <Text span>…</Text>}
    </Anchor>
  )
}

/** The name of a sub-account as text. */
export function AccountText({ accountId }: { accountId: string }) {
  const { data } = useRead('getAccount', { id: accountId })
  return <span>{data?.reply.name ?? '…'}</span>
}
