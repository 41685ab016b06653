import { Button, Checkbox, Menu, Modal, Stack, TextInput } from '@mantine/core'
import { limits, type SavedFilter } from '@penstock/wire'
import { IconBookmark, IconChevronDown } from '@tabler/icons-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useForbidden, useMe } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { FormDialog, useDialog } from '../../components/form-dialog.tsx'
import { NamedLine } from '../../components/named-line.tsx'
import { notifyOutcome } from '../../components/notify.ts'
import { savedFilters as say } from '../../strings/saved-filters.ts'
import { filterKeys as keys, pathOfFilter } from './path-of-filter.ts'

/** The saved filters of people, and saving the present one. */
export function SavedFilters({ accountId }: { accountId: string | undefined }) {
  const isPerson = useMe()?.kind === 'user'
  return isPerson ? <Filters accountId={accountId} /> : null
}

function Filters({ accountId }: { accountId: string | undefined }) {
  const { value } = useAddress()
  const navigate = useNavigate()
  const [dialog, open] = useDialog()
  const { data } = useRead('listSavedFilters', { query: { size: limits.pageSizeMax } }, { keep: true })
  const all = data?.reply ?? []
  const current = new URLSearchParams(keys.flatMap((key) => (value(key) ? [[key, value(key)]] : []))).toString()
  return (
    <>
      <Menu position="bottom-start" withinPortal={false} transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <Button
            variant="default"
            size="sm"
            leftSection={<IconBookmark size={16} aria-hidden />}
            rightSection={<IconChevronDown size={14} aria-hidden />}
          >
            {say.title}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }} aria-label={say.title}>
          {all.map((filter) => (
            <Menu.Item key={filter.id} onClick={() => void navigate(pathOfFilter(filter))}>
              {filter.name}
            </Menu.Item>
          ))}
          {all.length === 0 && <Menu.Label>{say.none}</Menu.Label>}
          <Menu.Item
            {...(current === '' && { 'aria-disabled': true, c: 'dimmed', closeMenuOnClick: false })}
            onClick={() =>
              current !== '' && open((close) => <Save query={current} accountId={accountId} onClose={close} />)
            }
          >
            {say.save}
          </Menu.Item>
          {all.length > 0 && (
            <Menu.Item onClick={() => open((close) => <Manage onClose={close} />)}>{say.change}</Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {dialog}
    </>
  )
}

function Save({ query, accountId, onClose }: { query: string; accountId: string | undefined; onClose: () => void }) {
  const [name, setName] = useState('')
  const [shared, setShared] = useState(false)
  const create = useWrite('createSavedFilter')
  const forbidden = useForbidden('updateConnection')
  const send = async () => {
    await create.mutateAsync({ body: { name: name.trim(), query, shared, ...(accountId && { accountId }) } })
    return say.saved(name.trim())
  }
  return (
    <FormDialog title={say.saveTitle} disabled={name.trim() === ''} onSubmit={send} onClose={onClose}>
      {(errorOf) => (
        <>
          <TextInput
            label={say.name}
            required
            data-autofocus
            maxLength={limits.nameLengthMax}
            value={name}
            error={errorOf('name')}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Checkbox
            label={say.share}
            description={forbidden}
            disabled={forbidden !== undefined}
            checked={shared}
            onChange={({ currentTarget }) => setShared(currentTarget.checked)}
          />
        </>
      )}
    </FormDialog>
  )
}

function Manage({ onClose }: { onClose: () => void }) {
  const { data } = useRead('listSavedFilters', { query: { size: limits.pageSizeMax } }, { keep: true })
  const forbidden = useForbidden('updateConnection')
  const all = (data?.reply ?? []).filter(({ shared }) => !shared || forbidden === undefined)
  return (
    <Modal opened onClose={onClose} title={say.manage}>
      <Stack gap="md">
        {all.map((filter) => (
          <Line key={filter.id} filter={filter} />
        ))}
      </Stack>
    </Modal>
  )
}

function Line({ filter: { id, name, shared } }: { filter: SavedFilter }) {
  const update = useWrite('updateSavedFilter')
  const remove = useWrite('deleteSavedFilter')
  return (
    <NamedLine
      name={name}
      label={`${say.name}: ${name}`}
      help={shared ? say.shared : undefined}
      words={say}
      onRename={(typed) => notifyOutcome(update.mutateAsync({ id, body: { name: typed } }), say.renamed)}
      onDelete={() => notifyOutcome(remove.mutateAsync({ id }), say.deleted(name))}
    />
  )
}
