const words = (text: string): readonly string[] => text.trim().split(/\s+/)

const everywhere =
  words(`any_errors_fatal become become_exe become_flags become_method become_user check_mode collections
  connection debugger diff environment ignore_errors ignore_unreachable module_defaults name no_log port remote_user
  run_once tags throttle timeout vars`)

/** Ansible's playbook keywords by the statement they may stand in (docs.ansible.com "Playbook Keywords", 2.14 to 2.18). */
export const playKeywords: ReadonlySet<string> = new Set([
  ...everywhere,
  ...words(`fact_path force_handlers gather_facts gather_subset gather_timeout handlers hosts max_fail_percentage order
    post_tasks pre_tasks roles serial strategy tasks vars_files vars_prompt user`),
])

export const roleKeywords: ReadonlySet<string> = new Set([
  ...everywhere,
  ...words('delegate_facts delegate_to role when'),
])

export const blockKeywords: ReadonlySet<string> = new Set([
  ...everywhere,
  ...words('always block delegate_facts delegate_to notify rescue when'),
])

/** Keywords of tasks and handlers; what else a task holds is its module, or a `with_…` loop. */
export const taskKeywords: ReadonlySet<string> = new Set([
  ...everywhere,
  ...words(`action args async changed_when delay delegate_facts delegate_to failed_when listen local_action loop
    loop_control notify poll register retries until when`),
])

/** What may stand beside a dynamic include: it is no task that anything else could apply to. `listen` of handlers only. */
export const includeKeywords: ReadonlySet<string> = new Set(
  words(`action args collections debugger ignore_errors listen local_action loop loop_control name no_log register run_once
    tags timeout vars when`),
)
