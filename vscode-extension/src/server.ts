import * as fs from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";

import * as vscode from "vscode";
import { LanguageClient, State } from "vscode-languageclient/node";
import type { LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

import type { Surroundings } from "./environment/candidates.js";
import { EnvironmentFailure, INSTALL_MODEL, SHOW_OUTPUT } from "./environment/failure.js";
import type { Remedy } from "./environment/failure.js";
import { findEnvironment } from "./environment/find.js";
import type { Environment } from "./environment/find.js";
import type { ManagedHome } from "./environment/managed.js";
import { forgetManaged, installModelPackages, managedPython } from "./environment/managed.js";
import { probe } from "./environment/probe.js";
import { selectedInterpreter } from "./environment/pythonExtension.js";
import { PROGRESS } from "./generation/protocol.js";
import type { ServedDocuments } from "./languages/served.js";
import { showError } from "./remedies.js";
import type { Status } from "./status.js";

const MANAGED = "environment of the extension";

/** The language server of this window: found or installed, started, watched, stopped. */
export class Server implements vscode.Disposable {
  #client: LanguageClient | undefined;
  #environmentInUse: Environment | undefined;
  /** Starts and stops run one after the other: each waits for the one before. */
  #turn: Promise<void> = Promise.resolve();
  #disposed = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly served: ServedDocuments,
    private readonly status: Status,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** The client of the running server; undefined while there is none. */
  get client(): LanguageClient | undefined {
    return this.#client?.state === State.Running ? this.#client : undefined;
  }

  /** Starts the server; stops the one that runs. Failures are shown to the user, not thrown. */
  restart(): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      await this.#stop();
      if (!this.#disposed) {
        await this.#start();
      }
    });
    return this.#turn;
  }

  /** Makes the extension's own environment anew, then starts. */
  async rebuild(): Promise<void> {
    await forgetManaged(this.#storage);
    await this.restart();
  }

  /** Installs what a language model needs into the extension's own environment, then starts. */
  async installModel(): Promise<void> {
    try {
      await this.#withHome(installModelPackages);
    } catch (failure) {
      this.#report(failure);
      return;
    }
    await this.restart();
  }

  /** What the user can do where a generation fails: the extension's own environment begins without a language model. */
  get remedies(): readonly Remedy[] {
    const lacking = this.#environmentInUse?.origin === MANAGED && !this.#environmentInUse.hasModelPackages;
    return lacking ? [INSTALL_MODEL, SHOW_OUTPUT] : [SHOW_OUTPUT];
  }

  async stop(): Promise<void> {
    this.#disposed = true;
    this.#turn = this.#turn.then(() => this.#stop());
    await this.#turn;
  }

  dispose(): void {
    void this.stop();
  }

  get #storage(): string {
    return this.context.globalStorageUri.fsPath;
  }

  async #start(): Promise<void> {
    this.status.show({ kind: "starting", message: "looking for Python" });
    try {
      const environment = await this.#environment();
      this.#environmentInUse = environment;
      this.log.info(`Starting ${environment.python} (${environment.origin}), server ${environment.serverVersion}`);
      this.status.show({ kind: "starting", message: "starting" });
      await this.#launch(environment);
    } catch (failure) {
      this.#report(failure);
    }
  }

  async #environment(): Promise<Environment> {
    const settings = vscode.workspace.getConfiguration("langwright");
    const folders = vscode.workspace.workspaceFolders ?? [];
    const surroundings: Surroundings = {
      platform: process.platform,
      home: os.homedir(),
      workspaceFolders: folders.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath),
      trusted: vscode.workspace.isTrusted,
      configured: settings.get("pythonPath", ""),
      selected: await selectedInterpreter(folders[0]?.uri),
    };
    const found = await findEnvironment(surroundings, (line) => { this.log.info(line); });
    return found ?? this.#managedEnvironment();
  }

  async #managedEnvironment(): Promise<Environment> {
    const python = await this.#withHome(managedPython);
    const facts = await probe([python]);
    return {
      python,
      origin: MANAGED,
      serverVersion: facts?.server ?? "of unknown version",
      hasModelPackages: facts?.hasModelPackages ?? false,
    };
  }

  /** Does something that takes time with the extension's own environment, shows how far it is and lets the user stop it. */
  async #withHome<T>(work: (home: ManagedHome) => Promise<T>): Promise<T> {
    const options = { location: vscode.ProgressLocation.Notification, title: "Langwright", cancellable: true };
    return vscode.window.withProgress(options, (progress, cancelled) => {
      const abort = new AbortController();
      cancelled.onCancellationRequested(() => { abort.abort(); });
      return work({
        storage: this.#storage,
        wheels: path.join(this.context.extensionPath, "server"),
        report: (message) => {
          progress.report({ message });
          this.status.show({ kind: "starting", message });
        },
        log: (line) => { this.log.info(line); },
        signal: abort.signal,
      });
    });
  }

  async #launch(environment: Environment): Promise<void> {
    const model = vscode.workspace.getConfiguration("langwright").get("model", "default");
    // The server runs in a folder of ours: Python puts the current folder first when it looks for modules.
    await fs.mkdir(this.#storage, { recursive: true });
    const serverOptions: ServerOptions = {
      command: environment.python,
      args: ["-m", "language_server", "serve"],
      options: {
        cwd: this.#storage,
        env: {
          PYTHONUNBUFFERED: "1",
          PYTHONUTF8: "1",
          // Then no program is run that the workspace's manifest names as a compiler.
          ...(vscode.workspace.isTrusted ? {} : { LANGWRIGHT_UNTRUSTED: "1" }),
        },
      },
    };
    const clientOptions: LanguageClientOptions = {
      documentSelector: this.served.selector,
      initializationOptions: { model },
      outputChannel: this.log,
    };
    const client = new LanguageClient("langwright", "Langwright", serverOptions, clientOptions);
    const running = (): void => {
      this.status.show({ kind: "running", origin: environment.origin, version: environment.serverVersion, model });
    };
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        running();
      } else if (newState === State.Stopped && this.#client === client) {
        this.status.show({ kind: "failed", message: "The language server has stopped." });
      }
    });
    client.onNotification(PROGRESS, ({ kind, message }) => {
      if (kind === "loading") {
        this.status.show({ kind: "busy", message: message ?? "loading the language model" });
      } else {
        running();
      }
    });
    this.#client = client;
    await client.start();
  }

  async #stop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    try {
      await client?.dispose(3000);
    } catch (failure) {
      // A server that died is what a restart is for.
      this.log.warn(`The language server did not stop in order: ${String(failure)}`);
    }
  }

  #report(failure: unknown): void {
    const message = failure instanceof Error ? failure.message : String(failure);
    this.log.error(message);
    this.status.show({ kind: "failed", message });
    void showError(`Langwright: ${message}`, failure instanceof EnvironmentFailure ? failure.remedies : []);
  }
}
