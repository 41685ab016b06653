import { Button, Group, Menu } from '@mantine/core'
import type { MappingTemplate } from '@penstock/wire'
import { IconChevronDown, IconTemplate } from '@tabler/icons-react'
import { lazy, Suspense, useRef, useState } from 'react'
import { useForbidden } from '../../../api/me.ts'
import { useRead } from '../../../api/queries.ts'
import { MenuItem } from '../../../components/reasoned.tsx'
import { mappingTemplates as say } from '../../../strings/mapping-templates.ts'
import { isFilled } from '../mapping/mapped-fields.ts'
import type { Lines } from '../mapping/mapping.ts'
import type { Applied, TemplateTarget } from './shared.ts'
import { AppliedTemplate } from './template-findings.tsx'

const ApplyTemplate = lazy(() => import('./apply-template.tsx').then((file) => ({ default: file.ApplyTemplate })))
const SaveTemplate = lazy(() => import('./save-template.tsx').then((file) => ({ default: file.SaveTemplate })))
const ManageTemplates = lazy(() => import('./manage-templates.tsx').then((file) => ({ default: file.ManageTemplates })))

/**
 * The menu of templates above the mapping that is edited, and the template that was applied: what it left open, and how to take it
 * back.
 */
export function MappingTemplates({
  target,
  invalid,
  onChange,
}: {
  target: TemplateTarget
  /** Why the mapping cannot be saved as a template; undefined if it can. */
  invalid: string | undefined
  onChange: (lines: Lines) => void
}) {
  const { lines, textFor, hasRecords } = target
  const [applied, setApplied] = useState<Applied>()
  const [dialog, setDialog] = useState<'apply' | 'standard' | 'save' | 'manage'>()
  const button = useRef<HTMLButtonElement>(null)
  const forbidden = useForbidden('createMappingTemplate')
  const standard = useStandard(target)
  const isEmpty = !lines.some(({ entry }) => isFilled(entry))
  // The element with the focus goes away: an item of the menu, or a button of the message.
  const backToMenu = () => setTimeout(() => button.current?.focus())
  const close = () => {
    setDialog(undefined)
    backToMenu()
  }
  const forget = () => {
    setApplied(undefined)
    backToMenu()
  }
  const undo = ({ before }: Applied) => {
    onChange(before)
    forget()
  }
  const apply = (next: Applied) => {
    onChange(next.after)
    setApplied(next)
  }
  return (
    <>
      <Group justify="flex-end">
        {standard && !applied && (
          <Button variant="light" size="sm" onClick={() => setDialog('standard')}>
            {say.mapAs(standard.name)}
          </Button>
        )}
        <Menu position="bottom-end" withInitialFocusPlaceholder={false} transitionProps={{ duration: 0 }}>
          <Menu.Target>
            <Button
              ref={button}
              variant="default"
              size="sm"
              leftSection={<IconTemplate size={16} aria-hidden />}
              rightSection={<IconChevronDown size={14} aria-hidden />}
            >
              {say.title}
            </Button>
          </Menu.Target>
          <Menu.Dropdown aria-label={say.title}>
            <MenuItem label={say.apply} onClick={() => setDialog('apply')} />
            <MenuItem
              label={say.save}
              reason={forbidden ?? (isEmpty ? say.nothingToSave : invalid)}
              onClick={() => setDialog('save')}
            />
            <MenuItem label={say.manage} reason={forbidden} onClick={() => setDialog('manage')} />
          </Menu.Dropdown>
        </Menu>
      </Group>
      {applied && (
        <AppliedTemplate
          applied={applied}
          hasRecords={hasRecords}
          onUndo={textFor(applied.after) === textFor(lines) ? () => undo(applied) : undefined}
          onClose={forget}
        />
      )}
      <Suspense fallback={null}>
        {(dialog === 'apply' || dialog === 'standard') && (
          <ApplyTemplate
            target={target}
            first={dialog === 'standard' ? standard : undefined}
            onApply={apply}
            onClose={close}
          />
        )}
        {dialog === 'save' && <SaveTemplate target={target} onClose={close} />}
        {dialog === 'manage' && <ManageTemplates target={target} onClose={close} />}
      </Suspense>
    </>
  )
}

const folded = (column: string): string => column.toLowerCase().replace(/[^a-z]/g, '')

/** The template of the standard ECAPI, if the source has its columns and the destination takes its events. */
function useStandard({ accountId, destConnectorId, columns = [] }: TemplateTarget): MappingTemplate | undefined {
  const names = new Set(columns.map(folded))
  const enabled =
    ['eventtype', 'timestamp'].every((name) => names.has(name)) &&
    [...names].some((name) => name === 'datasetid' || name.startsWith('userdata'))
  const query = { destConnectorId, q: 'ECAPI', size: 1 }
  const { data } = useRead('listMappingTemplates', { accountId, query }, { enabled })
  return data?.reply.find(({ builtIn }) => builtIn)
}
