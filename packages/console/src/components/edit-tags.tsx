import { TagsInput } from '@mantine/core'
import { limits } from '@penstock/wire'
import { useRead } from '../api/queries.ts'
import { labels as say } from '../strings/labels.ts'

/** Asks for tags, and proposes the known ones. */
export function EditTags({
  label,
  accountId,
  value,
  error,
  onChange,
}: {
  label: string
  accountId: string | undefined
  value: string[]
  error?: string | undefined
  onChange: (tags: string[]) => void
}) {
  const known = useRead('listConnectionTags', { accountId, query: { size: limits.pageSizeMax } }, { keep: true })
  return (
    <TagsInput
      label={label}
      description={say.tagsHelp}
      data={known.data?.reply.map(({ tag }) => tag) ?? []}
      maxTags={limits.tagsMax}
      maxLength={limits.tagLengthMax}
      value={value}
      error={error}
      onChange={onChange}
    />
  )
}
