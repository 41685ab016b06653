import { Button, Menu } from '@mantine/core'
import { IconChevronDown, IconTemplate } from '@tabler/icons-react'
import { lazy, Suspense, useRef, useState } from 'react'
import { useForbidden } from '../../../api/me.ts'
import { MenuItem } from '../../../components/reasoned.tsx'
import { mappingTemplates as say } from '../../../strings/mapping-templates.ts'
import { isFilled } from '../mapped-fields.ts'
import type { Applied, TemplateTarget } from './shared.ts'

const ApplyTemplate = lazy(() => import('./apply-template.tsx').then((file) => ({ default: file.ApplyTemplate })))
const SaveTemplate = lazy(() => import('./save-template.tsx').then((file) => ({ default: file.SaveTemplate })))
const ManageTemplates = lazy(() => import('./manage-templates.tsx').then((file) => ({ default: file.ManageTemplates })))

/** Applies a template to the mapping that is edited, saves it as one, or changes the templates of this destination. */
export function TemplatesMenu({
  target,
  invalid,
  onApply,
}: {
  target: TemplateTarget
  /** Why the mapping cannot be saved as a template; undefined if it can. */
  invalid: string | undefined
  onApply: (applied: Applied) => void
}) {
  const [dialog, setDialog] = useState<'apply' | 'save' | 'manage'>()
  const button = useRef<HTMLButtonElement>(null)
  const forbidden = useForbidden('createMappingTemplate')
  const isEmpty = !target.lines.some(({ entry }) => isFilled(entry))
  const close = () => {
    setDialog(undefined)
    // The item that opened the dialog is gone.
    setTimeout(() => button.current?.focus())
  }
  return (
    <>
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
      <Suspense fallback={null}>
        {dialog === 'apply' && <ApplyTemplate target={target} onApply={onApply} onClose={close} />}
        {dialog === 'save' && <SaveTemplate target={target} onClose={close} />}
        {dialog === 'manage' && <ManageTemplates target={target} onClose={close} />}
      </Suspense>
    </>
  )
}
